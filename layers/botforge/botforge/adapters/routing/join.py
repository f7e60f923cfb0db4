"""The second layer: logistic regression and boosted trees over the same features, averaged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from botforge.adapters.routing.trees import Trees

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Join:
    mean: Floats  # (features,)
    scale: Floats  # (features,)
    weights: Floats  # (features,): of the standardised features
    bias: Floats  # (1,)
    trees: Trees

    def log_odds(self, row: npt.NDArray[np.float64]) -> float:
        """For one row of features, before calibration."""
        linear = float((row - self.mean) / self.scale @ self.weights + self.bias[0])
        return (linear + self.trees.log_odds(row)) / 2
