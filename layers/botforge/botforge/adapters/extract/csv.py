"""Delimited tables: rows stay as they are written, and the header row goes with every part of the table."""

import csv
from io import StringIO

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits
from botforge.adapters.extract.outline import is_header
from botforge.domain.chunk import Block, ExtractedText

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024  # characters


def read(body: bytes, content_type: str = "", _limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    """One block. A file without any delimiter is a list of lines, and that is fine."""
    text = decode(body, declared=charset_parameter(content_type)).replace("\r\n", "\n").replace("\r", "\n")
    first, _, rest = text.lstrip("\n").partition("\n")
    cells = next(csv.reader(StringIO(first), delimiter=_delimiter(first)), list[str]())
    header = first if rest.strip() and is_header([cell.strip() for cell in cells]) else ""
    return ExtractedText(None, (Block(text, header=header),))


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line[:_SAMPLE].count)
