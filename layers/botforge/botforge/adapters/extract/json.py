"""JSON and JSON Lines: a line for each value that says where it stands."""

import json
from collections.abc import Iterator

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits, too_complex
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_BETWEEN = frozenset({" ", "\t", "\r", "\n", "\x1e", ","})  # RFC 7464 puts a record separator before each value

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def read(body: bytes, content_type: str = "", limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    """A block for each record: each line of JSON Lines, each element of an array of objects.

    Raises DocumentFailed: corrupt if it is no JSON, too_complex if it nests too deep.
    """
    text = decode(body, declared=charset_parameter(content_type)).strip("\ufeff \t\r\n")
    return ExtractedText(None, tuple(_blocks(_records(text), limits)))


def _records(text: str) -> list[Json]:
    """The values that stand one after another in the text."""
    # Numbers stay as they are written: 1.10 is a version, and an integer may be longer than Python reads.
    decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)
    values: list[Json] = []
    position = 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            values.append(value)
            while text[position : position + 1] in _BETWEEN:
                position += 1
    except ValueError as error:
        line = text.count("\n", 0, getattr(error, "pos", position)) + 1
        raise DocumentFailed(Reason.CORRUPT, f"It is not valid JSON (line {line}).") from error
    return values


def _blocks(records: list[Json], limits: Limits) -> Iterator[Block]:
    lines: list[str] = []
    for record in records:
        for line in (*_lines(record, "", limits.depth, limits), None):
            if line is not None:
                lines.append(line)
            elif lines:
                yield Block("\n".join(lines))
                lines = []


def _lines(value: Json, path: str, depth: int, limits: Limits) -> Iterator[str | None]:
    """Lines, with None wherever a record begins or ends."""
    if depth == 0:
        raise too_complex(f"nests deeper than {limits.depth} levels")
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _lines(member, f"{path}.{key}" if path else key, depth - 1, limits)
    elif isinstance(value, list):
        if any(isinstance(element, dict | list) for element in value):
            for element in value:
                yield None
                yield from _lines(element, path, depth - 1, limits)
            yield None
        else:
            yield from _lines(", ".join(filter(None, map(_scalar, value))), path, depth - 1, limits)
    elif text := _scalar(value):
        yield f"{path}: {text}" if path else text


def _scalar(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
