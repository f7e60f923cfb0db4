"""An embedder whose vectors are bags of words: texts that share words are near each other, and nothing is loaded."""

import hashlib
import math
import re
from collections.abc import Sequence

from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedding

_WORD = re.compile(r"\w+")


class BagOfWordsEmbedder:
    """Embedder and Tokenizer; ``unavailable`` makes every call fail."""

    model_id = "bag-of-words"
    dimension = 384
    max_tokens = 254

    def __init__(self) -> None:
        self.unavailable = False
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        if self.unavailable:
            raise EmbeddingUnavailable("The embedding model does not load.")
        self.calls.append(list(texts))
        return [Embedding(self._vector(text), truncated=len(self.spans(text)) > self.max_tokens) for text in texts]

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(text)]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in _WORD.findall(text.lower()):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector] if any(vector) else [1.0, *vector[1:]]
