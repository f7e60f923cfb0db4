"""Joining what dense and lexical search found into one ranking.

A weighted sum of the two scores, not of reciprocal ranks: both scores are absolute here (a cosine, and a share of the
query), so their sizes carry what ranks throw away. ``docs/retrieval.md`` has the comparison.
"""

from collections.abc import Iterable, Sequence

from botforge.domain.chunk import Candidate

COVERAGE_WEIGHT = 0.25  # of lexical coverage beside the cosine; chosen by `python -m botforge_dev.calibration`


def cosine_floor(candidates: Iterable[Candidate]) -> float | None:
    """The lowest cosine that dense search returned: what it left out lies below. None if it returned nothing."""
    return min((candidate.cosine for candidate in candidates if candidate.cosine is not None), default=None)


def fused_score(candidate: Candidate, *, floor: float | None, coverage_weight: float = COVERAGE_WEIGHT) -> float:
    """Cosine plus weighted lexical coverage. What only lexical search found counts with the cosine floor."""
    cosine = (floor or 0.0) if candidate.cosine is None else candidate.cosine
    return cosine + coverage_weight * candidate.lexical_coverage


def fuse(candidates: Sequence[Candidate], *, coverage_weight: float = COVERAGE_WEIGHT) -> list[Candidate]:
    """Candidates by ``fused_score``, best first. Without any dense result coverage alone decides."""
    floor = cosine_floor(candidates)

    def order(candidate: Candidate) -> tuple[float, str]:
        return -fused_score(candidate, floor=floor, coverage_weight=coverage_weight), str(candidate.ref)

    return sorted(candidates, key=order)
