"""From the lines of a PDF page back to its paragraphs."""

import re
from collections.abc import Iterator

import pypdfium2 as pdfium

_LINES = re.compile(r"\r\n|[\r\n]")
_BULLET = re.compile(r"[•‣▪◦●○■□–—*-]\s|\(?\w{1,3}[.)]\s")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*\Z")
_FULL = 0.6  # of the page's longest line: a shorter one ends its paragraph
_BROKEN_WORD = re.compile(r"\ufffe(?=(\w?))")  # PDFium's mark for a hyphen that ended a line


def page_text(page: pdfium.PdfPage) -> Iterator[str]:
    """The page's paragraphs in the order of its content, lines and broken words joined."""
    textpage = page.get_textpage()
    try:
        text = textpage.get_text_range()
    finally:
        textpage.close()
    yield from paragraphs(text)


def paragraphs(text: str) -> Iterator[str]:
    """Join lines that run on; a paragraph ends with a short line, before a bullet, and at blank lines."""
    lines = [line.strip() for line in _LINES.split(joined_words(text))]
    full = _FULL * max((len(line) for line in lines), default=0)
    gathered: list[str] = []
    for line in lines:
        if gathered and (not line or _ends(gathered[-1], full) or _BULLET.match(line)):
            yield " ".join(gathered)
            gathered = []
        if line:
            gathered.append(line)
    if gathered:
        yield " ".join(gathered)


def joined_words(text: str) -> str:
    """Without the hyphens that broke words; a hyphen before a capital or a digit belongs to its word."""
    return _BROKEN_WORD.sub(lambda match: "" if match[1].islower() else "-", text)


def _ends(line: str, full: float) -> bool:
    return len(line) < full or (len(line) < full * 1.4 and bool(_SENTENCE_END.search(line)))
