"""Whether two sets of weights decide alike."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from botforge.adapters.routing.weights import Arrays, load

_TOLERANCE = 0.02  # of an array's largest value: halves, and another processor's sums
# Trees split elsewhere once a sum differs in its last digit: their number is compared, and the rest of the head.
_TREES = frozenset({"tree_features", "tree_thresholds", "tree_values"})


def compare(one: Path, other: Path) -> list[str]:
    """A sentence for every array that differs by more than rounding."""
    first, second = (load(folder / "weights.npz", folder / "weights.json").arrays for folder in (one, other))
    differences: list[str] = []
    for field in fields(Arrays):
        made, committed = getattr(first, field.name), getattr(second, field.name)
        if made.shape != committed.shape:
            differences.append(f"{field.name}: {made.shape} is not {committed.shape}")
        elif field.name not in _TREES:
            difference, largest = float(np.abs(made - committed).max()), float(np.abs(committed).max())
            if difference > _TOLERANCE * largest:
                differences.append(f"{field.name}: differs by {difference:.3g}, where the largest is {largest:.3g}")
    return differences
