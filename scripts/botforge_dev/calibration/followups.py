"""``python -m botforge_dev.calibration.followups --data FOLDER [--split dev]``: follow-ups without an LLM.

Makes two-turn conversations from labelled questions, by rules, and asks the second message of the set's documents
through the product's embedding and search: alone, always joined to the question before it, and joined where the
product's rule says so. Prints the tables of ``docs/retrieval.md``.

The second message is one of

* *pointing*: a question of the same passage whose name, said in the first question too, became "it" or "its";
* *as written*: a question of the same passage that points back as its author wrote it ("When was he born?");
* *same topic*: any question of the same passage that names what it is about, which needs no joining;
* *other topic*: a question of another passage, which joining can only harm.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from botforge.domain.conversation import Turn
from botforge.domain.follow_up import is_follow_up, joined
from botforge_dev.calibration.laboratories import laboratory
from botforge_dev.calibration.languages import Asked, judged
from botforge_dev.evaluation.datasets import QuestionSet, question_sets
from botforge_dev.evaluation.metrics import mean

SETS = ("xquad_en", "covidqa_longdoc")
KINDS = ("pointing", "as written", "same topic", "other topic")
_A_KIND = 150  # cases at most
_NAME = re.compile(r"(?<=\s)(?:the\s+)?([A-Z][\w-]*(?:\s+[A-Z][\w-]*)*)('s)?(?=[\s?.,])")
_POINTS_BACK = re.compile(r"\b(?:he|she|him|his|her|they|them|their|it|its)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """A first question, a message after it, and the passage that answers the message."""

    kind: str
    first: str
    message: str
    gold: str


def cases(data: QuestionSet) -> list[Case]:
    """At most ``_A_KIND`` of each kind, the same in every run."""
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    by_passage: dict[str, list[str]] = {}
    for question in data.questions:
        by_passage.setdefault(next(iter(question.gold)), []).append(question.text)
    found = [case for gold, texts in by_passage.items() for case in _of_one_passage(gold, texts)]
    passages = list(by_passage)
    for question in data.questions:
        gold = next(iter(question.gold))
        other = chance.choice([one for one in passages if one != gold])
        if not _points_back(question.text):
            found.append(Case("other topic", chance.choice(by_passage[other]), question.text, gold))
    chance.shuffle(found)
    return [case for kind in KINDS for case in [one for one in found if one.kind == kind][:_A_KIND]]


def _of_one_passage(gold: str, texts: Sequence[str]) -> Iterator[Case]:
    for first, message in pairwise(texts):
        pointing = _pointing(first, message)
        if pointing is not None:
            yield Case("pointing", first, pointing, gold)
        if _points_back(message):
            yield Case("as written", first, message, gold)
        else:
            yield Case("same topic", first, message, gold)


def _pointing(first: str, message: str) -> str | None:
    """The message with the first name that both say as "it"; None if they share none."""
    for match in _NAME.finditer(message):
        if match[1] in first:
            return message[: match.start()] + ("its" if match[2] else "it") + message[match.end() :]
    return None


def _points_back(text: str) -> bool:
    """Whether a pronoun comes before any name: there is nothing in the message that it could mean."""
    pronoun = _POINTS_BACK.search(text)
    return pronoun is not None and _NAME.search(text[: pronoun.start()]) is None


def _of_kind(kind: str, made: Sequence[Case], alone: Sequence[Asked], together: Sequence[Asked]) -> str:
    """A line of the table: recall@1 and recall@5 of what the product would return, and how often the rule joins."""
    rows = [row for row in zip(made, alone, together, strict=True) if row[0].kind == kind]
    joins = [is_follow_up(case.message) for case, _, _ in rows]

    def recalls(chosen: Sequence[Asked]) -> str:
        pairs = [(one, case.gold) for one, (case, _, _) in zip(chosen, rows, strict=True)]
        return " / ".join(f"{mean(float(one.finds(gold, cutoff)) for one, gold in pairs):.3f}" for cutoff in (1, 5))

    by_rule = [one[2] if join else one[1] for one, join in zip(rows, joins, strict=True)]
    return (
        f"| {kind} | {len(rows)} | {recalls([one[1] for one in rows])} | {recalls([one[2] for one in rows])} "
        f"| {recalls(by_rule)} | {mean(map(float, joins)):.3f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Judges the rule that reads a follow-up without an LLM.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    chosen = parser.parse_args()
    sets = question_sets(chosen.data, chosen.split)
    with laboratory() as opened:
        for data in (one for one in sets if one.name in SETS):
            made = cases(data)
            ask = opened.asked(data)
            alone = [judged(found) for found in ask([case.message for case in made])]
            texts = [joined([Turn(case.first, "")], case.message) for case in made]
            together = [judged(found) for found in ask(texts)]
            print(f"\n{data.name}\n\n| second message | cases | alone | always joined | by the rule | joined |")
            print("|---|---|---|---|---|---|")
            for kind in KINDS:
                print(_of_kind(kind, made, alone, together), flush=True)
    print("\n| questions that stand alone | number | taken for follow-ups |\n|---|---|---|")
    for data in sets:
        taken = mean(float(is_follow_up(question.text)) for question in data.questions)
        print(f"| {data.name} | {len(data.questions)} | {taken:.3f} |")


if __name__ == "__main__":
    main()
