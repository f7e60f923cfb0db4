"""Public test corpora's odd files: what each must yield is in their manifest. Found by BOTFORGE_DATA."""

import json
import os
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from botforge.adapters.extract.isolated import IsolatedExtractor
from botforge.domain.chunk import ExtractedText
from botforge.domain.errors import DocumentError, DocumentFailed, DocumentRejected
from botforge.domain.formats import format_of
from botforge.domain.reasons import Reason

_DEFAULT = Path(__file__).parents[3] / "shared" / "data"
_FILES = Path(os.environ.get("BOTFORGE_DATA", _DEFAULT)) / "files"
_MANIFEST = _FILES / "manifest.jsonl"
_INVISIBLE = re.compile("[\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WITHOUT_TEXT = {
    "empty": {Reason.EMPTY},
    "empty_or_ocr": {Reason.EMPTY, Reason.NO_TEXT_LAYER},
    "needs_password": {Reason.ENCRYPTED},
    "error": set(Reason),
}


def _rows() -> list[Any]:
    if not _MANIFEST.is_file():
        absent = pytest.mark.skip(reason=f"no corpus at {_FILES}: set BOTFORGE_DATA to a folder that has files/")
        return [pytest.param({}, marks=absent, id="corpus")]
    rows = [json.loads(line) for line in _MANIFEST.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=Path(row["file"]).name) for row in rows]


@pytest.mark.parametrize("row", _rows())
def test_a_public_document_yields_its_text_or_its_reason(row: dict[str, Any]) -> None:
    outcome = _outcome(_FILES / row["file"])

    if format_of(row["file"], "") is None:
        assert isinstance(outcome, DocumentRejected)
        assert outcome.reason is Reason.UNSUPPORTED_TYPE
    elif row["expected"] in _WITHOUT_TEXT:
        assert isinstance(outcome, DocumentFailed)
        assert outcome.reason in _WITHOUT_TEXT[row["expected"]]
    elif isinstance(outcome, ExtractedText):
        text = _folded("\n".join([outcome.title or "", *(block.text for block in outcome.blocks)]))
        assert [phrase for phrase in row["must_contain"] if _folded(phrase) not in text] == []
        assert [phrase for phrase in row["must_not_contain"] if _folded(phrase) in text] == []
    else:
        assert row["expected"] in {"text_or_error", "text_or_empty", "must_be_bounded"}, outcome.message


def _outcome(path: Path) -> ExtractedText | DocumentError:
    try:
        return IsolatedExtractor(deadline=60).extract(
            path.read_bytes(), filename=path.name, content_type="application/octet-stream"
        )
    except DocumentError as error:
        return error


def _folded(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())
