"""From the lines of a PDF page back to its paragraphs."""

import re
from collections.abc import Iterator
from statistics import median

_LINES = re.compile(r"(\r\n|[\r\n]|\ufffe)")
BROKEN_WORD = "\ufffe"  # PDFium's mark for a hyphen that ended a line, with the next line right behind it
_BULLET = re.compile(r"[•‣▪◦●○■□–—*-]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*\Z")
_SHORT = 0.6  # of the page's usual line: such a line ends its paragraph
_LAST = 0.9  # a line that ends a sentence before it reaches this ends its paragraph, too
_PROSE = 20  # characters: shorter lines do not tell how wide the text is set


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a page's text as PDFium gives it, lines and broken words joined.

    A hyphen at a line's end goes, unless a capital or a digit follows: "COVID-19" is written with one. No page says
    which other words are.
    """
    parts = _LINES.split(text)
    lines = [(line.strip(), mark) for line, mark in zip(parts[::2], [*parts[1::2], "\n"], strict=True)]
    usual = median([len(line) for line, _ in lines if len(line) > _PROSE] or [0])
    gathered = ""
    for at, (line, mark) in enumerate(lines):
        following = lines[at + 1][0] if at + 1 < len(lines) else ""
        gathered += line
        if mark == BROKEN_WORD:
            gathered += "" if following[:1].islower() else "-"
        elif _ends(line, following, usual):
            if gathered:
                yield gathered
            gathered = ""
        else:
            gathered += " "


def _ends(line: str, following: str, usual: float) -> bool:
    if not line or not following:
        return True
    if _BULLET.match(following):
        return True
    if following[0].islower() or following[0] in ",;:.)]":
        return False
    if len(line) < usual * _SHORT:
        return True
    return len(line) < usual * _LAST and _SENTENCE_END.search(line) is not None
