"""Plain text: paragraphs apart by blank lines."""

import re

from botforge.adapters.extract.decoding import clean, decode
from botforge.domain.chunk import Block, ExtractedText

_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")


def extract(body: bytes) -> ExtractedText:
    return ExtractedText(None, paragraphs(clean(decode(body))))


def paragraphs(text: str, *, headings: tuple[str, ...] = (), page: int | None = None) -> tuple[Block, ...]:
    """The text's paragraphs as blocks; white space alone is none."""
    parts = (part.strip() for part in _BLANK_LINES.split(text))
    return tuple(Block(part, headings, page) for part in parts if part)
