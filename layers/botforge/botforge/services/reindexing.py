"""Rebuilding a vector index from Postgres: after a loss, or a move to another index or embedding model."""

from dataclasses import dataclass
from itertools import islice

from botforge.domain.ids import BotId, UserId
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import Chunks
from botforge.ports.vectors import VectorIndex

_BATCH = 256


@dataclass(frozen=True, slots=True)
class ReindexingService:
    chunks: Chunks
    embedder: Embedder
    vectors: VectorIndex

    def rebuild(self, user_id: UserId, bot_id: BotId) -> int:
        """Write every active chunk's vector anew; returns how many. Queries meanwhile find what is written so far."""
        self.vectors.delete_namespace(user_id, bot_id)
        active = iter(self.chunks.active(user_id, bot_id))
        written = 0
        while batch := list(islice(active, _BATCH)):
            embeddings = self.embedder.embed([chunk.embedding_text for _, chunk in batch])
            vectors = [(ref, embedding.vector) for (ref, _), embedding in zip(batch, embeddings, strict=True)]
            self.vectors.upsert(user_id, bot_id, vectors)
            written += len(batch)
        return written
