"""Measures of a ranking against cases worked out by hand."""

import math

import pytest

from botforge_dev.evaluation.metrics import first_occurrences, mean, ndcg_at, recall_at

RANKING = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("gold", "cutoff", "expected"),
    [({"a"}, 1, 1.0), ({"b"}, 1, 0.0), ({"b"}, 2, 1.0), ({"a", "d"}, 2, 0.5), ({"a", "d"}, 4, 1.0), ({"x"}, 4, 0.0)],
)
def test_recall_is_the_share_of_gold_within_the_cutoff(gold: set[str], cutoff: int, expected: float) -> None:
    assert recall_at(RANKING, gold, cutoff) == expected


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ({"a"}, 1.0),
        ({"b"}, 1 / math.log2(3)),
        ({"c"}, 0.5),  # 1 / log2(4)
        ({"a", "b"}, 1.0),
        ({"a", "c"}, (1 + 0.5) / (1 + 1 / math.log2(3))),
        ({"x"}, 0.0),
    ],
)
def test_ndcg_discounts_by_the_logarithm_of_the_rank_and_compares_with_the_best_order(
    gold: set[str], expected: float
) -> None:
    assert ndcg_at(RANKING, gold, 10) == pytest.approx(expected)


def test_ndcg_sees_nothing_beyond_its_cutoff() -> None:
    assert ndcg_at(RANKING, {"d"}, 3) == 0
    assert ndcg_at(RANKING, {"a", "b", "c", "d"}, 2) == 1.0


def test_a_ranking_of_passages_counts_each_document_where_it_comes_first() -> None:
    assert first_occurrences(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_a_mean_of_nothing_is_nothing() -> None:
    assert mean([]) == 0.0
    assert mean([1, 0, 0]) == 0.3333
