"""From the lines of a PDF page back to its paragraphs."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from botforge.adapters.extract.pdf_lines import Line, is_heading

_BULLET = re.compile(r"[•‣▪◦●○■□–—*-]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*\Z")
_SHORT = 0.6  # of the page's usual line: such a line ends its paragraph
_LAST = 0.9  # a line that ends a sentence before it reaches this ends its paragraph, too
_PROSE = 20  # characters: shorter lines do not tell how wide the text is set
_LONGEST_HEADING = 200  # characters: lines of one size that are more than this together are no heading


def paragraphs(lines: Sequence[Line], headings: Sequence[float] = ()) -> Iterator[tuple[str, int]]:
    """The paragraphs of a page, each with the level of the heading that it is: 0 for text.

    ``headings``: the sizes of headings, largest first. A hyphen at a line's end goes, unless a capital or a digit
    follows: "COVID-19" is written with one. No page says which other words are.
    """
    usual = median([len(line.text) for line in lines if len(line.text) > _PROSE] or [0])
    for size, group in groupby(lines, lambda line: line.size if is_heading(line, headings) else None):
        run = list(group)
        if size is not None and sum(len(line.text) for line in run) <= _LONGEST_HEADING:
            yield " ".join(line.text for line in run), headings.index(size) + 1
        else:
            yield from ((text, 0) for text in _joined(run, usual))


def _joined(lines: Sequence[Line], usual: float) -> Iterator[str]:
    gathered = ""
    for at, line in enumerate(lines):
        following = lines[at + 1].text if at + 1 < len(lines) else ""
        gathered += line.text
        if line.broken:
            gathered += "" if following[:1].islower() else "-"
        elif _ends(line.text, following, usual):
            if gathered:
                yield gathered
            gathered = ""
        else:
            gathered += " "
    if gathered:
        yield gathered


def _ends(line: str, following: str, usual: float) -> bool:
    if not line or not following or _BULLET.match(following):
        return True
    if following[0].islower() or following[0] in ",;:.)]":
        return False
    if len(line) < usual * _SHORT:
        return True
    return len(line) < usual * _LAST and _SENTENCE_END.search(line) is not None
