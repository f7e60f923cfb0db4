"""Walks a parsed HTML tree, without recursion: depth is the document's to choose."""

import re
from collections.abc import Sequence

from lxml import etree

from botforge.adapters.extract.outline import Outline
from botforge.adapters.extract.xml_tree import Element
from botforge.domain.chunk import Block

_UNSEEN = frozenset({"script", "style", "template", "head", "noscript", "noembed", "svg", "math", "canvas", "datalist"})
_LISTS = frozenset({"ul", "ol", "dl", "menu", "select"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "frameset", "header", "hr", "html", "legend", "li", "main"}
    | {"nav", "noframes", "optgroup", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "textarea"}
    | {"tfoot", "th", "thead", "tr", *_LISTS, *_HEADINGS}
)
_HIDDEN = re.compile(r"(?i)display\s*:\s*none|visibility\s*:\s*hidden")
_SPACE = re.compile(r"\s+")
_SPACES = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r" ?\n ?")
_LONGEST_CELL = 500  # characters: tables with longer ones lay out a page rather than data


class MarkupReader:
    """Turns elements into blocks. One reader reads one document."""

    def __init__(self) -> None:
        self._outline = Outline()
        self._navigation: list[Element] = []  # put off to the end of the document
        self._inline: list[str] = []  # the text of the paragraph that is being read
        self._lines: list[str] = []  # of the list that is being read
        self._lists: list[int] = []  # open lists: the next number of an ordered one, 0 for others
        self._marker = ""
        self._preformatted = 0

    def read(self, root: Element) -> list[Block]:
        self._read(root)
        blocks = list(self._outline.blocks)
        for element in self._navigation:
            element.tag = "div"
            element.attrib.pop("role", None)
            blocks += MarkupReader().read(element)
        return blocks

    def _read(self, root: Element) -> None:
        walk = etree.iterwalk(root, events=("start", "end"))
        skipped: Element | None = None
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            if event == "start":
                if self._is_unseen(element, tag) or (tag == "table" and self._read_table(element)):
                    walk.skip_subtree()
                    skipped = element
                else:
                    self._open(element, tag)
                continue
            if element is not skipped:
                self._close(tag)
            self._add(element.tail)
        self._end_paragraph()
        self._end_list()

    def _is_unseen(self, element: Element, tag: str) -> bool:
        if not tag or tag in _UNSEEN:
            return True
        if tag == "nav" or element.get("role") == "navigation":
            self._navigation.append(element)
            return True
        hidden = element.get("hidden")
        return (hidden is not None and hidden != "until-found") or bool(_HIDDEN.search(element.get("style", "")))

    def _open(self, element: Element, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_paragraph()
        if tag in _HEADINGS:
            self._end_list()
        elif tag in _LISTS:
            self._lists.append(1 if tag == "ol" else 0)
        elif tag == "li":
            self._begin_item()
        elif tag == "pre":
            self._preformatted += 1
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            self._add(f" {element.get('alt', '')} ")
        self._add(element.text)

    def _close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._outline.heading(_HEADINGS[tag], self._take())
            return
        if tag in _BLOCKS:
            self._end_paragraph()
        if tag in _LISTS and self._lists:
            self._lists.pop()
            if not self._lists:
                self._end_list()
        elif tag == "pre":
            self._preformatted -= 1

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        self._marker = f"{number}. " if number else "- "
        if number:
            self._lists[-1] += 1

    def _add(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._preformatted else _SPACE.sub(" ", text))

    def _take(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        if self._preformatted:
            return text.strip("\n")
        return _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).strip()

    def _end_paragraph(self) -> None:
        text = self._take()
        if not text.strip():
            return
        if self._lists:
            self._lines.append(self._marker + text)
            self._marker = ""
        else:
            self._outline.text(text)

    def _end_list(self) -> None:
        self._outline.text("\n".join(self._lines))
        self._lines.clear()

    def _read_table(self, table: Element) -> bool:
        """Read a table of data; False, and nothing done, for one that lays out a page."""
        if table.find(".//table") is not None or any(table.find(f".//{tag}") is not None for tag in _HEADINGS):
            return False
        rows = [[self._visible(cell) for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
        captions = [self._visible(caption) for caption in table.iter("caption")]
        if not _is_data(rows) or _letters([*captions, *(cell for row in rows for cell in row)]) != _letters(
            [self._visible(table)]
        ):
            return False
        self._end_paragraph()
        if self._lists:
            self._lines += captions + [" | ".join(row) for row in rows]
        else:
            self._outline.text("\n".join(captions))
            self._outline.table(rows)
        return True

    def _visible(self, root: Element) -> str:
        parts = [root.text or ""]
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            if element is root:
                continue
            if event == "end":
                parts.append(element.tail or "")
            elif self._is_unseen(element, tag):
                walk.skip_subtree()
            else:
                parts += [" " if tag in _BLOCKS or tag == "br" else "", element.get("alt", ""), element.text or ""]
        return _SPACE.sub(" ", "".join(parts)).strip()


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    return any(len(row) > 1 for row in rows) and all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)


def _letters(texts: Sequence[str]) -> int:
    return sum(not character.isspace() for text in texts for character in text)
