"""From a measured corpus to the arrays of the head.

In two layers. The first (text scores, learned similarity) is trained on some sources and scores the others, so that
the second (logistic regression and boosted trees over everything) learns how far each can be trusted on sentences of
a kind that it has not seen. Then the first is trained once more on all.
"""

import random
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from botforge.adapters.routing.features import NAMES, features
from botforge.adapters.routing.join import Join
from botforge.adapters.routing.trees import Trees
from botforge.adapters.routing.weights import Arrays
from botforge.domain.routing import ToolEvidence
from botforge.domain.wording import NAMES as WORDING
from botforge_dev.routing.corpus import with_bots
from botforge_dev.routing.training import boosting, pairing
from botforge_dev.routing.training.measured import EMBEDDING_SCALE, GRAM_SCALE, WORDING_SCALE, Measured

_BOT_SIZES = (3, 5, 8, 8, 8, 8, 10)
_SEED = 7
_TEXT_STRENGTH = 0.3
_JOIN_STRENGTH = 0.1
_BACKGROUND = "authored"
_SLOPES = [number / 20 for number in range(6, 61)]
_NOT_CALIBRATED_ON = ("authored", "tool_conditional")  # harder on purpose than what bots are asked

# Sources whose sentences were made of the same stuff are left out together.
KIN = (
    ("bfcl_nonlive", "tool_conditional"),
    ("metatool_negative", "metatool_positive"),
)


@dataclass(frozen=True, slots=True)
class Fit:
    arrays: Arrays
    out_of_source: Any  # calibrated probabilities of the training rows, each by a head that had not seen its source
    rows: Any


def fit(data: Measured, sources: Collection[str], *, banned_tools: Collection[str] = ()) -> Fit:
    """Train on the rows of ``sources``; tools whose key begins with one of ``banned_tools`` are not seen at all."""
    folds = _folds(sources)
    tables: list[Any] = []
    rows: list[Any] = []
    for number, fold in enumerate(folds):
        others = [name for name in sources if name not in fold]
        arrays = _first_layer(data, data.rows(others), (*banned_tools, *_exclusive(data, fold, others)))
        rows.append(data.rows(fold))
        tables.append(table(data, arrays, rows[-1], bots(data, rows[-1], banned_tools, _SEED + number)))
    every = np.concatenate(rows)
    out_of_source = np.zeros(len(every))
    joined = np.concatenate(tables)
    fold_of = np.repeat(np.arange(len(folds)), [len(each) for each in rows])
    for number in range(len(folds)):
        left, kept = fold_of == number, fold_of != number
        second = _second_layer(data, joined[kept], every[kept])
        out_of_source[left] = [second.log_odds(row) for row in joined[left]]
    slope, intercept = _calibrated(data, out_of_source, every)
    second = _second_layer(data, joined, every)
    arrays = _merged(_first_layer(data, data.rows(sources), banned_tools), second)
    arrays = replace(arrays, calibration=np.array([slope, intercept], dtype=np.float32))
    return Fit(arrays, 1 / (1 + np.exp(-(slope * out_of_source + intercept))), every)


def bots(data: Measured, rows: Any, banned: Collection[str], seed: int, sizes: Sequence[int] = _BOT_SIZES) -> Any:
    """A bot for each row, its tools by index."""
    pool = [key for key in data.keys if key.split(":", 1)[0] not in {*banned, "authored", "same_domain"}]
    index = {key: number for number, key in enumerate(data.keys)}
    sentences = [data.corpus.sentences[row] for row in rows]
    drawn = with_bots(sentences, pool, sizes, random.Random(seed))  # noqa: S311 - reproducible on purpose
    return [[index[key] for key in bot] for bot in drawn]


def table(data: Measured, arrays: Arrays, rows: Any, tools: Sequence[Sequence[int]]) -> Any:
    """The product's features of every row."""
    made = np.zeros((len(rows), len(NAMES)))
    for number, (row, bot) in enumerate(zip(rows, tools, strict=True)):
        made[number] = features(data.corpus.sentences[row].text, data.vectors[row], evidence(data, row, bot), arrays)
    return made


def evidence(data: Measured, row: int, bot: Sequence[int]) -> list[ToolEvidence]:
    """The tools of a row's bot, as the router would find them."""
    found: list[ToolEvidence] = []
    for number in bot:
        tool, vector = data.corpus.tools[data.keys[number]], data.tool_vectors[number]
        found.append(ToolEvidence(tool.name, tool.description, float(data.vectors[row] @ vector), vector))
    return found


def _folds(sources: Collection[str]) -> list[list[str]]:
    """One source a fold, kin together."""
    kin = [[name for name in group if name in sources] for group in KIN]
    single = [[name] for name in sorted(sources) if all(name not in group for group in KIN)]
    return [group for group in [*kin, *single] if group]


def _exclusive(data: Measured, fold: Collection[str], others: Collection[str]) -> set[str]:
    """Origins of tools that only sentences of the fold need."""

    def origins(names: Collection[str]) -> set[str]:
        needed = np.unique(data.right[data.rows(names)])
        return {data.keys[index].split(":", 1)[0] for index in needed if index >= 0}

    return origins(fold) - origins(others)


def _first_layer(data: Measured, rows: Any, banned: Collection[str]) -> Arrays:
    weights = data.balanced(rows)
    by_embedding = np.hstack([data.vectors[rows] * EMBEDDING_SCALE, data.wording[rows] * WORDING_SCALE])
    by_grams = sparse.hstack([data.grams[rows] * GRAM_SCALE, sparse.csr_matrix(data.wording[rows])]).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early on purpose
        embedding = LogisticRegression(C=_TEXT_STRENGTH, max_iter=100)
        embedding.fit(by_embedding, data.acts[rows], sample_weight=weights)
        grams = LogisticRegression(C=_TEXT_STRENGTH, solver="liblinear", tol=1e-3, random_state=_SEED)
        grams.fit(by_grams, data.acts[rows], sample_weight=weights)
    dimension, slots = data.vectors.shape[1], data.grams.shape[1]
    scales = np.concatenate([np.full(dimension, EMBEDDING_SCALE), np.full(data.wording.shape[1], WORDING_SCALE)])
    allowed = np.array([number for number, key in enumerate(data.keys) if key.split(":", 1)[0] not in banned])
    paired = rows[(data.acts[rows] == 0) | (data.right[rows] >= 0)]
    questions = data.vectors[rows[data.acts[rows] == 0]]
    background = [number for number, key in enumerate(data.keys) if key.startswith(f"{_BACKGROUND}:")]
    empty = np.zeros(0, dtype=np.float32)
    return Arrays(
        text_embedding=(embedding.coef_[0] * scales).astype(np.float32),
        text_grams=(grams.coef_[0][:slots] * GRAM_SCALE).astype(np.float32),
        text_grams_wording=grams.coef_[0][slots:].astype(np.float32),
        text_biases=np.array([embedding.intercept_[0], grams.intercept_[0]], dtype=np.float32),
        pairing=pairing.train(
            data.vectors[paired], data.right[paired], data.balanced(paired), data.tool_vectors, allowed, _SEED
        ),
        background=data.tool_vectors[background],
        questions_mean=questions.mean(axis=0),
        questions_spread=np.cov(questions.T).astype(np.float32),
        idf=data.idf(),
        join_mean=empty, join_scale=empty, join_weights=empty, join_bias=empty,
        tree_features=np.zeros((0, 0), dtype=np.int16), tree_thresholds=np.zeros((0, 0)), tree_values=empty,
        calibration=np.array([1.0, 0.0], dtype=np.float32),
    )  # fmt: skip


def _second_layer(data: Measured, joined: Any, rows: Any) -> Join:
    mean, scale = joined.mean(axis=0), joined.std(axis=0) + 1e-6
    weights = data.balanced(rows)
    # The text scores know the wording; given it again, the linear part trusts the forms of its sources too much.
    columns = [number for number, name in enumerate(NAMES) if name not in WORDING]
    linear = LogisticRegression(C=_JOIN_STRENGTH, max_iter=500)
    linear.fit(((joined - mean) / scale)[:, columns], data.acts[rows], sample_weight=weights)
    coefficients = np.zeros(len(NAMES), dtype=np.float32)
    coefficients[columns] = linear.coef_[0]
    # LightGBM's own bias is in the leaves of the first tree.
    trees = Trees(*boosting.as_arrays(boosting.train(joined, data.acts[rows], weights, _SEED)))
    return Join(
        mean.astype(np.float32), scale.astype(np.float32), coefficients, linear.intercept_.astype(np.float32), trees
    )


def _merged(first: Arrays, second: Join) -> Arrays:
    return replace(
        first,
        join_mean=second.mean,
        join_scale=second.scale,
        join_weights=second.weights,
        join_bias=second.bias,
        tree_features=second.trees.features,
        tree_thresholds=second.trees.thresholds,
        tree_values=second.trees.values,
    )


def _calibrated(data: Measured, out_of_source: Any, rows: Any) -> tuple[float, float]:
    public = ~np.isin(data.sources[rows], _NOT_CALIBRATED_ON)
    scores, acts, weights = out_of_source[public], data.acts[rows[public]], data.balanced(rows[public])

    def brier(slope: float) -> float:
        return float(weights @ ((1 / (1 + np.exp(-slope * scores)) - acts) ** 2))

    # By squared error: the logarithm's would be that of a few sentences that were labelled wrong. No intercept: both
    # labels weigh the same in training, and how often people act is every bot's own.
    return min(_SLOPES, key=brier), 0.0
