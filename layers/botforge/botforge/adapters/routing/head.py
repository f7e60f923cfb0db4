"""The trained head: what a message says and how it compares with the bot's tools, in one calibrated probability."""

import math
from collections.abc import Sequence

import numpy as np

from botforge.adapters.routing.features import features
from botforge.adapters.routing.weights import Weights, load
from botforge.domain.routing import ToolEvidence
from botforge.ports.embedding import Vector


class RoutingHead:
    """RoutingModel. Safe to share between threads."""

    def __init__(self, weights: Weights | None = None) -> None:
        """Raises WeightsDamaged."""
        self._weights = weights or load()
        self._join = self._weights.arrays.join
        self._slope, self._intercept = self._weights.arrays.calibration.tolist()

    @property
    def model_id(self) -> str:
        return self._weights.model_id

    def p_execution(self, text: str, vector: Vector, tools: Sequence[ToolEvidence]) -> float:
        row = features(text, np.asarray(vector, dtype=np.float32), tools, self._weights.arrays)
        log_odds = self._slope * self._join.log_odds(row) + self._intercept
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
