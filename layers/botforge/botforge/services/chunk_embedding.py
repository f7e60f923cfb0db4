"""The vectors that a chunk gets: of the whole, by which it is found, and of its sentences, by which it is ranked."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.chunk import Chunk
from botforge.ports.embedding import Embedder, Vector


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    vector: Vector
    sentences: list[Vector]  # of ``Chunk.sentences``, in order; none where they were not asked for
    truncated: bool  # the model saw the chunk only in part


def chunk_vectors(embedder: Embedder, chunks: Sequence[Chunk], *, with_sentences: bool) -> list[ChunkVectors]:
    """Neighbours repeat each other's ends, so every text is embedded once. Raises EmbeddingUnavailable."""
    sentences = [chunk.sentences if with_sentences else [] for chunk in chunks]
    texts = dict.fromkeys([chunk.embedding_text for chunk in chunks])
    texts |= dict.fromkeys(sentence for of_chunk in sentences for sentence in of_chunk)
    embedded = dict(zip(texts, embedder.embed(list(texts)), strict=True))
    return [
        ChunkVectors(
            embedded[chunk.embedding_text].vector,
            [embedded[sentence].vector for sentence in of_chunk],
            embedded[chunk.embedding_text].truncated,
        )
        for chunk, of_chunk in zip(chunks, sentences, strict=True)
    ]
