"""Measures of a ranking, for one question."""

import math
from collections.abc import Collection, Iterable, Sequence


def recall_at(ranking: Sequence[str], gold: Collection[str], cutoff: int) -> float:
    """The share of the gold documents among the first ``cutoff`` of the ranking."""
    return len(set(ranking[:cutoff]) & set(gold)) / len(set(gold))


def ndcg_at(ranking: Sequence[str], gold: Collection[str], cutoff: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1 (Järvelin and Kekäläinen, 2002)."""
    gained = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranking[:cutoff], start=1) if item in gold)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), cutoff) + 1))
    return gained / ideal


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean, rounded to what a figure can bear; 0 of nothing."""
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else 0.0


def first_occurrences(items: Iterable[str]) -> list[str]:
    """Each item once, where it comes first: passages ranked become documents ranked."""
    return list(dict.fromkeys(items))
