"""The demo's documents say what its questions expect, each in one place."""

import json
from pathlib import Path
from typing import Any

import pytest

from botforge.adapters.extract.by_format import extract

_FOLDER = Path(__file__).parents[2] / "examples" / "documents"
_QUESTIONS: dict[str, Any] = json.loads((_FOLDER / "questions.json").read_text(encoding="utf-8"))
_FILES = sorted({question["file"] for question in _QUESTIONS["answerable"]})


def text_of(name: str) -> str:
    extracted = extract((_FOLDER / name).read_bytes(), filename=name, content_type="")
    return " ".join(" ".join(block.text for block in extracted.blocks).split())


@pytest.mark.parametrize("row", _QUESTIONS["answerable"], ids=lambda row: row["question"])
def test_the_answer_stands_in_its_file_and_in_no_other(row: dict[str, str]) -> None:
    assert [name for name in _FILES if row["phrase"] in text_of(name)] == [row["file"]]


def test_every_document_is_asked_about() -> None:
    documents = {path.name for path in _FOLDER.iterdir()} - {"README.md", "questions.json"}

    assert set(_FILES) == documents
    assert len(_QUESTIONS["unanswerable"]) >= 3
