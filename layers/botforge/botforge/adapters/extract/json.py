"""JSON and JSON lines: every value with the path that leads to it."""

import json
from collections.abc import Iterator
from typing import Any, cast

from botforge.adapters.extract.decoding import clean, decode
from botforge.adapters.extract.limits import MAX_DEPTH, too_complex
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_LINES = 12  # a block
_LONG = 400  # characters: a value this long stands alone


def extract(body: bytes) -> ExtractedText:
    text = decode(body)
    if not text.strip():
        return ExtractedText(None, ())
    try:
        value = _parse(text)
        return ExtractedText(None, tuple(_blocks(_lines(value, "", 0))))
    except RecursionError as error:
        raise too_complex("It is nested too deeply.") from error


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise DocumentFailed(Reason.CORRUPT, f"It is not valid JSON: {error}.") from error


def _lines(value: object, path: str, depth: int) -> Iterator[str]:
    """``path: value`` for every scalar; list positions are left out, as nobody asks for them."""
    if depth > MAX_DEPTH:
        raise too_complex("It is nested too deeply.")
    if isinstance(value, dict):
        for name, member in cast("dict[str, Any]", value).items():
            yield from _lines(member, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        for member in cast("list[Any]", value):
            yield from _lines(member, path, depth + 1)
    elif value is not None and value != "":
        written = value if isinstance(value, str) else json.dumps(value)
        yield clean(f"{path}: {written}" if path else written)


def _blocks(lines: Iterator[str]) -> Iterator[Block]:
    gathered: list[str] = []
    for line in lines:
        if gathered and (len(gathered) == _LINES or len(line) > _LONG):
            yield Block("\n".join(gathered))
            gathered.clear()
        gathered.append(line)
    if gathered:
        yield Block("\n".join(gathered))
