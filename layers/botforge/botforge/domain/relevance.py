"""How probable it is that a passage comes from a document that answers the question.

A cosine is no probability: with all-MiniLM-L6-v2 right passages lie anywhere between 0.3 and 0.9. The weights are
those of logistic regressions over the best passage of each question, half of the questions being asked of documents
that do not answer them. ``python -m botforge_dev.calibration`` makes them; ``docs/retrieval.md`` says how well they
hold on data that they were not made from.
"""

import math
from dataclasses import dataclass

from botforge.domain.chunk import Candidate
from botforge.domain.fusion import best_sentence, cosine_of

MODEL_ID = "all-MiniLM-L6-v2"  # the embedding model whose cosines the weights were made from


@dataclass(frozen=True, slots=True)
class Weights:
    bias: float
    cosine: float
    sentence: float
    coverage: float


HYBRID = Weights(bias=-6.94, cosine=5.64, sentence=3.48, coverage=4.22)
LEXICAL = Weights(bias=-4.15, cosine=0.0, sentence=0.0, coverage=6.18)  # when dense search returned nothing at all


def relevance(candidate: Candidate, *, floor: float | None, weights: Weights = HYBRID) -> float:
    """Calibrated relevance, 0..1. ``floor``: see ``fusion.cosine_floor``; None if dense search returned nothing."""
    if floor is None:
        weights = LEXICAL
    evidence = (
        weights.bias
        + weights.cosine * cosine_of(candidate, floor)
        + weights.sentence * best_sentence(candidate, floor)
        + weights.coverage * candidate.lexical_coverage
    )
    return 1 / (1 + math.exp(-evidence))
