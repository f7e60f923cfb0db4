"""Joining what dense and lexical search found into one ranking.

A weighted sum of scores, not of reciprocal ranks: the scores are absolute here (cosines, and a share of the query), so
their sizes carry what ranks throw away. ``docs/retrieval.md`` has the comparison.
"""

from collections.abc import Iterable, Sequence

from botforge.domain.chunk import Candidate, Hit

# Of lexical coverage beside the cosines; both chosen by `python -m botforge_dev.calibration`.
COVERAGE_WEIGHT = 0.5
SHORTLIST_WEIGHT = 0.25  # where sentences are not compared yet: beside the passage's cosine alone


def cosine_floor(hits: Iterable[Hit]) -> float | None:
    """The lowest cosine that dense search returned: what it left out lies below. None if it returned nothing."""
    return min((hit.score for hit in hits), default=None)


def cosine_of(candidate: Candidate, floor: float | None) -> float:
    """The passage's cosine; the floor if only lexical search found it."""
    return (floor or 0.0) if candidate.cosine is None else candidate.cosine


def best_sentence(candidate: Candidate, floor: float | None) -> float:
    """The cosine of the passage's nearest sentence; the passage's own where its sentences have no vectors."""
    return max(candidate.sentence_cosines, default=cosine_of(candidate, floor))


def fused_score(candidate: Candidate, *, floor: float | None, coverage_weight: float = COVERAGE_WEIGHT) -> float:
    """The cosines of the passage and of its best sentence, plus weighted lexical coverage.

    The vector of a passage is a mean of all that it says, in which one sentence that answers is lost.
    """
    cosines = cosine_of(candidate, floor) + best_sentence(candidate, floor)
    return cosines + coverage_weight * candidate.lexical_coverage


def fuse(
    candidates: Sequence[Candidate], *, floor: float | None, coverage_weight: float = COVERAGE_WEIGHT
) -> list[Candidate]:
    """Candidates by ``fused_score``, best first."""

    def order(candidate: Candidate) -> tuple[float, str]:
        return -fused_score(candidate, floor=floor, coverage_weight=coverage_weight), str(candidate.ref)

    return sorted(candidates, key=order)
