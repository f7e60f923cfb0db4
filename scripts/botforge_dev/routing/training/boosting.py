"""Gradient-boosted trees by LightGBM, rewritten as the complete trees that the product evaluates."""

from typing import Any

import lightgbm
import numpy as np

DEPTH = 4
_PARAMETERS = {
    "objective": "binary",
    "num_leaves": 8,
    "max_depth": DEPTH,
    "learning_rate": 0.05,
    "min_data_in_leaf": 40,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.4,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
_ROUNDS = 200


def train(features: Any, acts: Any, weights: Any, seed: int) -> lightgbm.Booster:
    data = lightgbm.Dataset(features, acts, weight=weights)
    return lightgbm.train({**_PARAMETERS, "seed": seed}, data, num_boost_round=_ROUNDS)


def as_arrays(booster: lightgbm.Booster) -> tuple[Any, Any, Any]:
    """Features, thresholds and values, as ``botforge.adapters.routing.trees.Trees`` has them."""
    trees = booster.dump_model()["tree_info"]
    inner = 2**DEPTH - 1
    features = np.zeros((len(trees), inner), dtype=np.int16)
    thresholds = np.full((len(trees), inner), np.inf)
    values = np.zeros((len(trees), inner + 1), dtype=np.float32)
    for number, tree in enumerate(trees):
        _place(tree["tree_structure"], 0, features[number], thresholds[number], values[number])
    return features, thresholds, values


def _place(node: dict[str, Any], at: int, features: Any, thresholds: Any, values: Any) -> None:
    if at >= len(features):
        values[at - len(features)] = node["leaf_value"]
        return
    if "leaf_value" in node:
        _place(node, 2 * at + 1, features, thresholds, values)  # an infinite threshold always goes left
        return
    if node["decision_type"] != "<=":
        raise ValueError("the features are numbers")
    features[at], thresholds[at] = node["split_feature"], node["threshold"]
    _place(node["left_child"], 2 * at + 1, features, thresholds, values)
    _place(node["right_child"], 2 * at + 2, features, thresholds, values)
