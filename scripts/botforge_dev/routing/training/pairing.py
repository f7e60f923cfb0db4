"""A learned similarity of messages and tools: ``message @ pairing @ tool``."""

from typing import Any

import numpy as np

_EPOCHS = 6
_BATCH = 256
_NEGATIVES = 64  # tools that every message of a batch is told apart from
_NEGATIVE_WEIGHT = 0.25
_RATE = 5e-4
_DECAY = 5e-3  # towards the plain cosine
_SCALE, _BIAS = 12.0, -4.0  # of the log odds, at the start


def train(queries: Any, right: Any, weights: Any, tools: Any, allowed: Any, seed: int) -> Any:
    """A (d, d) matrix by Adam on the logistic loss of pairs: each message with the tool that it needs, and with random
    ones of ``allowed`` (indices of ``tools``). ``right`` is the index of the needed tool, -1 for none."""
    generator = np.random.default_rng(seed)
    dimension = queries.shape[1]
    pairing = np.eye(dimension, dtype=np.float32)
    first, second = np.zeros_like(pairing), np.zeros_like(pairing)
    bias, step = _BIAS, 0
    for _ in range(_EPOCHS):
        order = generator.choice(len(queries), len(queries), p=weights / weights.sum())
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            negatives = generator.choice(allowed, _NEGATIVES, replace=False)
            gradient, bias_gradient = _gradient(pairing, bias, queries[rows], right[rows], tools, negatives)
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.99 * second + 0.01 * gradient * gradient
            corrected = np.sqrt(second / (1 - 0.99**step)) + 1e-6
            pairing -= _RATE * (first / (1 - 0.9**step)) / corrected
            bias -= 0.02 * bias_gradient
    return pairing


def _gradient(pairing: Any, bias: float, queries: Any, right: Any, tools: Any, negatives: Any) -> tuple[Any, float]:
    others = tools[negatives]
    error = 1 / (1 + np.exp(-(_SCALE * (queries @ pairing @ others.T) + bias)))
    error[negatives[None, :] == right[:, None]] = 0
    error *= _NEGATIVE_WEIGHT
    needed = tools[np.maximum(right, 0)]
    own = _SCALE * ((queries @ pairing) * needed).sum(axis=1) + bias
    missing = np.where(right >= 0, -1 / (1 + np.exp(own)), 0.0).astype(np.float32)
    gradient = queries.T @ (error @ others) + (queries * missing[:, None]).T @ needed
    pull = _DECAY * (pairing - np.eye(len(pairing), dtype=np.float32))
    size = len(queries)
    return (_SCALE * gradient / size + pull).astype(np.float32), float((error.sum() + missing.sum()) / size)
