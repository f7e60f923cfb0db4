"""The head of a ranking, judged once more by a reranker."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.chunk import Candidate
from botforge.domain.deadline import Deadline
from botforge.domain.fusion import fused_score
from botforge.ports.reranking import Reranker

_JUDGED = 20  # the best of the ranking: the answer is among them for nearly every question
_SHARE = 0.3  # of the time that is left


@dataclass(frozen=True, slots=True)
class Reranking:
    """``weight``: what a reranker's score counts beside the ranking's own (``fusion.fused_score``)."""

    reranker: Reranker
    weight: float

    def ordered(
        self, text: str, ranked: Sequence[Candidate], *, floor: float | None, deadline: Deadline
    ) -> list[Candidate]:
        """``ranked`` (best first) with its head in a new order. Raises RerankerUnavailable, DeadlineExceeded."""
        head, rest = ranked[:_JUDGED], ranked[_JUDGED:]
        if len(head) < 2:
            return list(ranked)
        limited = deadline.less(deadline.remaining() * (1 - _SHARE))
        judged = self.reranker.rerank(text, [candidate.text for candidate in head], deadline=limited)
        scores = [
            fused_score(candidate, floor=floor) + self.weight * score
            for candidate, score in zip(head, judged, strict=True)
        ]
        order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
        return [*(head[place] for place in order), *rest]
