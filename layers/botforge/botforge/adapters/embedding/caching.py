"""A cache in front of an embedder: questions repeat."""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from botforge.ports.cache import Cache
from botforge.ports.embedding import Embedder, Embedding


@dataclass(frozen=True, slots=True)
class CachingEmbedder:
    """Embeds what the cache does not know. ``ttl`` in seconds.

    A value is one byte (truncated or not) and the vector as little-endian float32; anything else is a miss.
    """

    embedder: Embedder
    cache: Cache
    ttl: int

    @property
    def model_id(self) -> str:
        return self.embedder.model_id

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        keys = [self._key(text) for text in texts]
        known = [self._decoded(self.cache.get(key)) for key in keys]
        unknown = [index for index, embedding in enumerate(known) if embedding is None]
        computed = iter(self.embedder.embed([texts[index] for index in unknown]) if unknown else [])
        result: list[Embedding] = []
        for key, embedding in zip(keys, known, strict=True):
            if embedding is None:
                embedding = next(computed)  # noqa: PLW2901 - the missing one
                self.cache.set(key, self._encoded(embedding), ttl=self.ttl)
            result.append(embedding)
        return result

    def _key(self, text: str) -> str:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"embedding:{self.model_id}:{digest}"

    def _encoded(self, embedding: Embedding) -> bytes:
        return struct.pack(f"<?{self.dimension}f", embedding.truncated, *embedding.vector)

    def _decoded(self, value: bytes | None) -> Embedding | None:
        if value is None or len(value) != 1 + 4 * self.dimension:
            return None
        truncated, *vector = struct.unpack(f"<?{self.dimension}f", value)
        return Embedding(vector, truncated=truncated)
