"""A cache in front of an embedder: questions repeat."""

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from botforge.ports.cache import Cache
from botforge.ports.embedding import Embedder, Embedding

_LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class CachingEmbedder:
    """Embeds what the cache does not know. ``ttl`` in seconds.

    A value is one byte (0, or 1 for truncated) and the vector as little-endian float32. Anything else is a miss, and so
    is a vector that is not of unit length: a cache is shared, and what it returns is not to be trusted blindly.
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
        by_key = dict(zip(keys, texts, strict=True))  # equal texts are asked for once
        known = {key: self._decoded(self.cache.get(key)) for key in by_key}
        found = {key: embedding for key, embedding in known.items() if embedding is not None}
        unknown = [key for key in by_key if key not in found]
        if unknown:
            computed = self.embedder.embed([by_key[key] for key in unknown])
            for key, embedding in zip(unknown, computed, strict=True):
                self.cache.set(key, self._encoded(embedding), ttl=self.ttl)
                found[key] = embedding
        return [found[key] for key in keys]

    def _key(self, text: str) -> str:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"embedding:{self.model_id}:{digest}"

    def _encoded(self, embedding: Embedding) -> bytes:
        return struct.pack(f"<?{self.dimension}f", embedding.truncated, *embedding.vector)

    def _decoded(self, value: bytes | None) -> Embedding | None:
        if value is None or len(value) != 1 + 4 * self.dimension or value[0] not in (0, 1):
            return None
        truncated, *vector = struct.unpack(f"<?{self.dimension}f", value)
        if not abs(math.hypot(*vector) - 1) < _LENGTH_TOLERANCE:  # so that NaN is a miss too
            return None
        return Embedding(vector, truncated=truncated)
