"""Judging passages beside the question that they were found for."""

from collections.abc import Sequence
from typing import Protocol

from botforge.domain.deadline import Deadline


class Reranker(Protocol):
    def rerank(self, question: str, passages: Sequence[str], *, deadline: Deadline) -> list[float]:
        """One score a passage, in order; the higher, the better it answers. About 0..1.

        Raises RerankerUnavailable, and DeadlineExceeded for a deadline that has passed already.
        """
        ...
