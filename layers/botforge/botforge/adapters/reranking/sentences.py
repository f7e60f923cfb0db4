"""A reranker that needs no model but the embedder: a passage is as good as its best sentence.

The vector of a passage is a mean of all that it says, and one sentence that answers is lost in it.
"""

from collections.abc import Sequence
from operator import mul

from botforge.domain.deadline import Deadline
from botforge.domain.errors import EmbeddingUnavailable, RerankerUnavailable
from botforge.domain.sentences import split_sentences
from botforge.ports.embedding import Embedder

_BATCH = 32  # sentences between two looks at the clock


class SentenceReranker:
    """``max_sentences`` of each passage are read, the first ones."""

    def __init__(self, embedder: Embedder, *, max_sentences: int = 12) -> None:
        self._embedder = embedder
        self._max_sentences = max_sentences

    def rerank(self, question: str, passages: Sequence[str], *, deadline: Deadline) -> list[float]:
        deadline.check()
        sentences = [split_sentences(passage)[: self._max_sentences] or [passage] for passage in passages]
        texts = list(dict.fromkeys(text for of_passage in sentences for text in of_passage))
        cosines: dict[str, float] = {}
        try:
            (asked,) = self._embedder.embed([question])
            for start in range(0, len(texts), _BATCH):
                if deadline.remaining() <= 0:
                    raise RerankerUnavailable("Reranking took longer than it may.", code="reranker_timeout")
                batch = texts[start : start + _BATCH]
                embedded = zip(batch, self._embedder.embed(batch), strict=True)
                cosines.update((text, sum(map(mul, asked.vector, one.vector))) for text, one in embedded)
        except EmbeddingUnavailable as error:
            raise RerankerUnavailable("The embedding model does not answer.") from error
        return [max(cosines[text] for text in of_passage) for of_passage in sentences]
