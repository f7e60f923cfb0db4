"""The lines of a PDF's pages: their text, and the size they are set in."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

_LINES = re.compile(r"(\r\n|[\r\n]|\ufffe)")
_BROKEN_WORD = "\ufffe"  # PDFium's mark for a hyphen that ended a line, with the next line right behind it
_LARGER = 1.15  # than the text: a heading
_LONGEST_HEADING = 120  # characters of a line
_MOST_IN_HEADINGS = 0.25  # of all characters: beyond that sizes say nothing about headings (slides, posters)
_MOST_OFTEN = 2  # pages
_LETTERS = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    broken: bool = False  # its last word goes on in the next line
    size: float = 0  # points; 0 if not known


def page_lines(page: pdfium.PdfPage) -> list[Line]:
    """The page's lines in the order of its content."""
    textpage = page.get_textpage()
    try:
        parts = _LINES.split(textpage.get_text_range())
        lines: list[Line] = []
        at = 0
        for text, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
            size = _size(textpage, at + len(text) - len(text.lstrip()), text.lstrip()[:1])
            lines.append(Line(text.strip(), mark == _BROKEN_WORD, size))
            at += len(text) + len(mark)
        return lines
    finally:
        textpage.close()


def heading_sizes(pages: Sequence[Sequence[Line]]) -> list[float]:
    """The sizes that headings are set in, largest first: larger than the size that most of the text has."""
    characters: Counter[float] = Counter()
    for page in pages:
        for line in page:
            characters[line.size] += len(line.text)
    usual = max(characters, key=lambda size: characters[size], default=0)
    if usual == 0:
        return []
    sizes = [size for size in characters if size >= usual * _LARGER]
    if sum(characters[size] for size in sizes) > _MOST_IN_HEADINGS * characters.total():
        return []
    return sorted(sizes, reverse=True)


def running_titles(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """The lines that stand on several pages: they are set like headings and head nothing."""
    on_pages = Counter(text for page in pages for text in {line.text for line in page})
    return frozenset(text for text, count in on_pages.items() if count > _MOST_OFTEN)


def is_heading(line: Line, sizes: Sequence[float]) -> bool:
    return line.size in sizes and len(line.text) <= _LONGEST_HEADING and bool(_LETTERS.search(line.text))


def _size(textpage: pdfium.PdfTextPage, at: int, character: str) -> float:
    """The size of a character by its place in the text, which is not quite its number on the page."""
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(textpage, at)
    if not character or index < 0 or pdfium_c.FPDFText_GetUnicode(textpage, index) != ord(character):
        return 0
    matrix = pdfium_c.FS_MATRIX()
    scaled = pdfium_c.FPDFText_GetMatrix(textpage, index, matrix)
    scale = math.hypot(matrix.c, matrix.d) if scaled else 1
    return round(pdfium_c.FPDFText_GetFontSize(textpage, index) * scale * 2) / 2
