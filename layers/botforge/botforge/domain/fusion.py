"""Joining rankings that cannot be compared by score."""

from collections.abc import Sequence

from botforge.domain.chunk import Candidate

K = 60  # Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet…" (SIGIR 2009)


def fuse(candidates: Sequence[Candidate], *, k: int = K, lexical_weight: float = 0.25) -> list[Candidate]:
    """Candidates by reciprocal rank fusion of their dense and their lexical rank, best first.

    A candidate's score is the sum of ``1 / (k + rank)`` over the rankings that hold it; ties go to the higher cosine.
    """
    dense = sorted((c for c in candidates if c.cosine is not None), key=lambda c: (-_cosine(c), str(c.ref)))
    scores = {candidate.ref: 1 / (k + rank) for rank, candidate in enumerate(dense, start=1)}
    for candidate in candidates:
        if candidate.lexical_rank is not None:
            scores[candidate.ref] = scores.get(candidate.ref, 0.0) + lexical_weight / (k + candidate.lexical_rank)
    return sorted(candidates, key=lambda c: (-scores.get(c.ref, 0.0), -_cosine(c), str(c.ref)))


def _cosine(candidate: Candidate) -> float:
    return -1.0 if candidate.cosine is None else candidate.cosine
