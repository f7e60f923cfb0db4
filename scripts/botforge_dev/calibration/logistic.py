"""Logistic regression for a handful of features, by Newton's method."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_STEPS = 60
_RIDGE = 1e-3  # keeps the system solvable; of no weight beside thousands of samples


def fit(features: Sequence[Sequence[float]], labels: Sequence[bool], weights: Sequence[float]) -> list[float]:
    """Bias, then a weight for each feature, of the greatest weighted likelihood."""
    x: npt.NDArray[np.float64] = np.asarray([(1.0, *row) for row in features])
    y: npt.NDArray[np.float64] = np.asarray(labels, dtype=np.float64)
    w: npt.NDArray[np.float64] = np.asarray(weights, dtype=np.float64)
    beta: npt.NDArray[np.float64] = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(x @ beta)))
        gradient = x.T @ (w * (y - p)) - _RIDGE * beta
        curvature = (x.T * (w * p * (1 - p))) @ x + _RIDGE * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, gradient)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return [float(value) for value in beta]


def calibration_error(predicted: Sequence[float], labels: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: the mean gap between probability and outcome over equal bins (Guo et al., 2017)."""
    held: list[list[int]] = [[] for _ in range(bins)]
    for at, probability in enumerate(predicted):
        held[min(int(probability * bins), bins - 1)].append(at)
    gaps = [abs(sum(predicted[at] for at in one) - sum(labels[at] for at in one)) for one in held]
    return sum(gaps) / len(predicted) if predicted else 0.0
