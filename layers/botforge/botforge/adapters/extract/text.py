"""Plain text: paragraphs are what blank lines separate."""

import re

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits
from botforge.domain.chunk import Block, ExtractedText

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def read(body: bytes, content_type: str = "", _limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    text = decode(body, declared=charset_parameter(content_type))
    return ExtractedText(None, tuple(paragraphs(text)))


def paragraphs(text: str, *, headings: tuple[str, ...] = (), page: int | None = None) -> list[Block]:
    """A block for each paragraph."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    return [Block(part, headings, page) for part in _BLANK.split(text) if part.strip()]
