"""``files``: real documents of many formats, what should become of each, and phrases that must be read out of it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botforge_dev.evaluation.datasets import DataError, read_lines
from botforge_dev.evaluation.metrics import mean
from botforge_dev.evaluation.product import Document, Product, distinct

# Soft hyphens, and the marks that only steer the direction of text (Unicode Standard Annex 9).
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))

# expected → what a document may end as: "indexed", or a reason. Not to read a format at all is a clean refusal.
_UNSUPPORTED = frozenset({"unsupported_type", "content_mismatch"})
_NO_TEXT = frozenset({"empty", "no_text_layer"})
_NOT_READ = _UNSUPPORTED | _NO_TEXT | {"corrupt", "encrypted", "too_complex", "too_large"}
_ACCEPTED: Mapping[str, frozenset[str]] = {
    "text": frozenset({"indexed"}),
    "needs_password": frozenset({"encrypted"}),
    "error": _NOT_READ,
    "empty": _NO_TEXT,
    "empty_or_ocr": _NO_TEXT | _UNSUPPORTED | {"indexed"},
    "text_or_empty": _NO_TEXT | {"indexed"},
    "must_be_bounded": _NOT_READ | {"indexed"},
    "text_or_error": _NOT_READ | {"indexed"},
    "unsupported": _UNSUPPORTED,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    file: str
    format: str
    expected: str
    became: str  # "indexed", or the reason why not
    found: int  # of the phrases that must be there
    phrases: int
    forbidden: tuple[str, ...]  # phrases that must not be there and are

    @property
    def as_expected(self) -> bool:
        return self.became in _ACCEPTED[self.expected] and not self.forbidden


def run(product: Product, folder: Path, split: str) -> dict[str, Any]:
    """Shares of documents that became what they should, and of phrases found, for each format and in all."""
    rows = [row for row in read_lines(folder / "manifest.jsonl") if row["split"] == split]
    if not rows:
        raise DataError(f"{folder}/manifest.jsonl names no file of the split {split}.")
    bot = product.create_bot(f"evaluation files {split}"[:200])
    documents = [Document(row["file"].rsplit("/", 1)[-1], _read(folder / row["file"])) for row in rows]
    read = product.ingest(bot, distinct(documents))

    def outcome(pair: tuple[dict[str, Any], Document]) -> Outcome:
        row, document = pair
        item = read[document.filename]
        text = product.text_of(bot, item["document_id"]) if item["status"] == "indexed" else ""
        return judge(row, "indexed" if item["status"] == "indexed" else str(item["reason"]), text)

    outcomes = product.each(outcome, list(zip(rows, documents, strict=True)))
    product.delete_bot(bot)
    formats = sorted({outcome.format for outcome in outcomes})
    return {
        **summary(outcomes),
        "formats": {name: summary([one for one in outcomes if one.format == name]) for name in formats},
        "unexpected": [_described(one) for one in outcomes if not one.as_expected or one.found < one.phrases],
    }


def judge(row: Mapping[str, Any], became: str, text: str) -> Outcome:
    """What became of a file of the manifest. A phrase counts only if the document must yield its text."""
    if row["expected"] not in _ACCEPTED:
        raise DataError(f"{row['file']}: nobody knows what is meant by expected = {row['expected']!r}.")
    folded = fold(text)
    must = [fold(phrase) for phrase in row["must_contain"]] if row["expected"] == "text" else []
    return Outcome(
        file=row["file"],
        format=row["format"],
        expected=row["expected"],
        became=became,
        found=sum(phrase in folded for phrase in must),
        phrases=len(must),
        forbidden=tuple(phrase for phrase in row["must_not_contain"] if fold(phrase) in folded),
    )


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    phrases = sum(outcome.phrases for outcome in outcomes)
    return {
        "files": len(outcomes),
        "as_expected": mean(float(outcome.as_expected) for outcome in outcomes),
        "phrases": phrases,
        "phrases_found": round(_total(outcomes) / phrases, 4) if phrases else None,
    }


def fold(text: str) -> str:
    """NFKC, no bidirectional marks or soft hyphens, white space as one space."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(_INVISIBLE)).strip()


def _total(outcomes: Iterable[Outcome]) -> int:
    return sum(outcome.found for outcome in outcomes)


def _described(outcome: Outcome) -> dict[str, Any]:
    return {
        "file": outcome.file,
        "expected": outcome.expected,
        "became": outcome.became,
        "phrases_found": outcome.found,
        "phrases": outcome.phrases,
        "forbidden": list(outcome.forbidden),
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
