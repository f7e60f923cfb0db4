"""Turning text into vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Vector = Sequence[float]  # unit length; the dimension is the embedder's


@dataclass(frozen=True, slots=True)
class Embedding:
    vector: Vector
    truncated: bool  # the text was longer than the model reads; only its beginning counts


class Embedder(Protocol):
    """Embeds texts. Equal texts give equal vectors, whatever else is in the batch (cosine ≥ 0.9999)."""

    @property
    def model_id(self) -> str:
        """Names the vector space: vectors of different ids are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text, in order. Raises EmbeddingUnavailable."""
        ...


class Tokenizer(Protocol):
    """Sees text as the embedding model does."""

    @property
    def max_tokens(self) -> int:
        """What the model reads of one text, without its special tokens."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The (start, end) character offsets of every token, in order, without special tokens or truncation."""
        ...
