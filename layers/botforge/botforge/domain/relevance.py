"""How probable it is that a passage helps to answer a question.

A cosine is no probability: with all-MiniLM-L6-v2 right passages lie anywhere between 0.3 and 0.9. The weights below
are a logistic regression over cosine and lexical coverage.
"""

import math

from botforge.domain.chunk import Candidate

_BIAS = -6.70
_COSINE = 8.67
_COVERAGE = 4.55
_UNSEEN_COSINE = 0.2  # of a passage that lexical search alone found: below all that dense search returned


def relevance(candidate: Candidate) -> float:
    """Calibrated relevance, 0..1."""
    cosine = _UNSEEN_COSINE if candidate.cosine is None else candidate.cosine
    return 1 / (1 + math.exp(-(_BIAS + _COSINE * cosine + _COVERAGE * candidate.lexical_coverage)))
