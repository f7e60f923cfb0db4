"""Labelled data in a folder: passages, questions and which passages answer them, one JSON object a line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class DataError(Exception):
    """The folder does not hold what the suite needs; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class LabelledPassage:
    id: str
    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    id: str
    text: str
    gold: frozenset[str]  # ids of the passages that answer it
    answers: tuple[str, ...] = ()
    answer_start: int | None = None  # of the first answer, in characters of the passage's text


@dataclass(frozen=True, slots=True)
class QuestionSet:
    name: str
    passages: tuple[LabelledPassage, ...]
    questions: tuple[LabelledQuestion, ...]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file. Raises DataError if it is missing or no such file."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def question_sets(folder: Path, split: str) -> list[QuestionSet]:
    """Every NAME with ``NAME.{split}.questions.jsonl`` and passages of its own, by name.

    The passages are ``NAME.{split}.passages.jsonl`` or, shared by all splits, ``NAME.passages.jsonl``; questions
    without either (a translation of another set's) are left out. Raises DataError if there is no set at all.
    """
    ending = f".{split}.questions.jsonl"
    sets: list[QuestionSet] = []
    for questions in sorted(folder.glob(f"*{ending}")):
        name = questions.name.removesuffix(ending)
        candidates = (folder / f"{name}.{split}.passages.jsonl", folder / f"{name}.passages.jsonl")
        passages = next((path for path in candidates if path.exists()), None)
        if passages is not None:
            sets.append(QuestionSet(name, _passages(passages), _questions(questions)))
    if not sets:
        raise DataError(f"{folder} holds no NAME{ending} with passages of that name.")
    return sets


def _passages(path: Path) -> tuple[LabelledPassage, ...]:
    return tuple(LabelledPassage(row["id"], row.get("title"), row["text"]) for row in read_lines(path))


def _questions(path: Path) -> tuple[LabelledQuestion, ...]:
    return tuple(
        LabelledQuestion(
            row["id"],
            row["question"],
            frozenset(row["gold_passage_ids"]),
            tuple(row.get("answers") or ()),
            row.get("answer_start"),
        )
        for row in read_lines(path)
    )
