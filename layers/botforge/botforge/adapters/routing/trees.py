"""Gradient-boosted trees as arrays: every tree is a complete binary tree of the same depth."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Trees:
    """Node ``n`` of a tree has the children ``2n + 1`` (value ≤ threshold) and ``2n + 2``; leaves come after nodes.

    A branch that ends early is continued by nodes whose threshold is infinite.
    """

    features: npt.NDArray[np.int16]  # (trees, 2 ** depth - 1)
    thresholds: npt.NDArray[np.float64]  # (trees, 2 ** depth - 1)
    values: npt.NDArray[np.float32]  # (trees, 2 ** depth)

    def log_odds(self, row: npt.NDArray[np.float64]) -> float:
        """The sum over all trees for one row of features."""
        inner = self.features.shape[1]
        every = np.arange(len(self.features))
        node = np.zeros(len(self.features), dtype=np.int64)
        while node.size and node[0] < inner:
            right = row[self.features[every, node]] > self.thresholds[every, node]
            node = 2 * node + 1 + right
        return float(self.values[every, node - inner].sum())
