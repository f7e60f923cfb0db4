"""Delimited tables: rows stay as they are written, and the header row goes with every part of the table."""

import csv
from io import StringIO

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits
from botforge.adapters.extract.outline import is_header
from botforge.domain.chunk import Block, ExtractedText

_DELIMITERS = ",;\t|"
_LONGEST_HEADER = 1_000  # characters


def read(body: bytes, content_type: str = "", _limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    """One block. A file without any delimiter is a list of lines, and that is fine."""
    text = decode(body, declared=charset_parameter(content_type)).replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    first, _, rest = text.partition("\n")
    header = first if rest.strip() and len(first) <= _LONGEST_HEADER and is_header(_cells(first)) else ""
    return ExtractedText(None, (Block(text, header=header),))


def _cells(line: str) -> list[str]:
    rows = csv.reader(StringIO(line), delimiter=max(_DELIMITERS, key=line.count))
    return [cell.strip() for cell in next(rows, list[str]())]
