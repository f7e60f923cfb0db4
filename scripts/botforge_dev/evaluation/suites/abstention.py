"""``abstention``: every set's questions are asked of its own documents and of each other set's, with the default bot.

Sets that share the first four letters of their names are taken to be about one subject: their documents may answer
each other's questions, and no label says which. They are asked, told apart, and left out of the means.
"""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from botforge_dev.evaluation.datasets import DataError, LabelledQuestion, question_sets
from botforge_dev.evaluation.metrics import mean
from botforge_dev.evaluation.product import Product
from botforge_dev.evaluation.suites.pages import Indexed, index

_FOREIGN = 100  # questions of a set that are asked of each other set's documents
_RELATED_LETTERS = 4


def run(product: Product, folder: Path, split: str) -> dict[str, Any]:
    """Shares of questions that are answered when they can be, and not when they cannot; pooled, and for each set."""
    sets = question_sets(folder, split)
    if len(sets) < 2:
        raise DataError(f"{folder} holds one question set only: there is nothing else to ask of.")
    bots = [index(product, data) for data in sets]
    own = {one.data.name: _answered(product, one, one.data.questions) for one in bots}
    foreign = {
        (one.data.name, other.data.name): _answered(product, other, _sample(one.data.questions))
        for one in bots
        for other in bots
        if one is not other
    }
    for one in bots:
        product.delete_bot(one.bot)
    return summary(own, foreign)


def summary(own: dict[str, list[bool]], foreign: dict[tuple[str, str], list[bool]]) -> dict[str, Any]:
    """``own`` by set, ``foreign`` by (whose questions, whose documents): whether each question was answered."""
    unrelated = {pair: answers for pair, answers in foreign.items() if not related(*pair)}
    figures = {
        name: {
            "answered_when_answerable": _share(own[name]),
            "abstained_when_not": 1 - _share(_pooled(answers for (of, _), answers in unrelated.items() if of == name)),
        }
        for name in own
    }
    return {
        "answered_when_answerable": _share(_pooled(own.values())),
        "abstained_when_not": round(1 - _share(_pooled(unrelated.values())), 4),
        "questions": {"answerable": sum(map(len, own.values())), "not": sum(map(len, unrelated.values()))},
        "sets": {name: {key: round(value, 4) for key, value in of.items()} for name, of in figures.items()},
        "pairs": {
            f"{of} asked of {documents}": {
                "abstained": round(1 - _share(answers), 4),
                "related": related(of, documents),
            }
            for (of, documents), answers in foreign.items()
        },
    }


def related(one: str, other: str) -> bool:
    return one[:_RELATED_LETTERS] == other[:_RELATED_LETTERS]


def _answered(product: Product, indexed: Indexed, questions: Sequence[LabelledQuestion]) -> list[bool]:
    def answered(question: LabelledQuestion) -> bool:
        return not product.query(indexed.bot, question.text, max_chunks=1)["abstained"]

    return product.each(answered, list(questions))


def _sample(questions: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    shuffled = list(questions)
    random.Random(0).shuffle(shuffled)  # noqa: S311 - a sample, not a secret
    return shuffled[:_FOREIGN]


def _pooled(groups: Iterable[Sequence[bool]]) -> list[bool]:
    return [answer for group in groups for answer in group]


def _share(answers: Sequence[bool]) -> float:
    return mean(float(answer) for answer in answers)
