"""Walks WordprocessingML in document order, without recursion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from botforge.adapters.extract.docx_styles import TITLE, outline_level, value
from botforge.adapters.extract.outline import Outline
from botforge.adapters.extract.xml_tree import Element, attribute, local_name
from botforge.domain.chunk import Block

# Deleted or moved away (tracked changes), codes rather than text, readings above CJK text, and the second rendering
# of what stands in mc:Choice already.
_SKIPPED = frozenset({"del", "moveFrom", "delText", "instrText", "delInstrText", "Fallback", "rt", "sdtPr", "sectPr"})
_BREAKS = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LONGEST_CELL = 500  # characters: tables with longer ones lay out a page rather than data


@dataclass(slots=True)
class _Paragraph:
    level: int | None
    is_item: bool
    parts: list[str] = field(default_factory=list[str])
    notes: list[Element] = field(default_factory=list[Element])


@dataclass(slots=True)
class _Table:
    rows: list[list[list[str]]] = field(default_factory=list[list[list[str]]])


def _nothing(_relation: str) -> tuple[Block, ...]:
    return ()


@dataclass(slots=True)
class Paragraphs:
    """Reads a part (the body, a header, a footer). One reader reads one part."""

    levels: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: Mapping[str, Mapping[str, Element]] = field(default_factory=dict[str, Mapping[str, Element]])
    embedded: Callable[[str], Sequence[Block]] = _nothing
    title: str | None = None
    _outline: Outline = field(default_factory=Outline)
    _open: list[_Paragraph] = field(default_factory=list[_Paragraph])
    _tables: list[_Table] = field(default_factory=list[_Table])
    _items: list[str] = field(default_factory=list[str])

    def read(self, root: Element) -> list[Block]:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            name = local_name(element)
            if event == "end":
                self._close(name)
            elif name in _SKIPPED or (name == "r" and _is_hidden(element)):
                walk.skip_subtree()
            else:
                self._begin(element, name)
        self._end_list()
        return self._outline.blocks

    def _begin(self, element: Element, name: str) -> None:
        match name:
            case "p":
                self._open.append(self._paragraph(element))
            case "t" if self._open:
                self._open[-1].parts.append(element.text or "")
            case "footnoteReference" | "endnoteReference" if self._open:
                note = self.notes.get(name.removesuffix("Reference"), {}).get(attribute(element, "id"))
                if note is not None:
                    self._open[-1].notes.append(note)
            case "tbl":
                self._end_list()
                self._tables.append(_Table())
            case "tr" if self._tables:
                self._tables[-1].rows.append([])
            case "tc" if self._tables and self._tables[-1].rows:
                self._tables[-1].rows[-1].append([])
            case "altChunk":
                self._end_list()
                self._outline.blocks.extend(self.embedded(attribute(element, "id")))
            case _ if name in _BREAKS and self._open:
                self._open[-1].parts.append(_BREAKS[name])
            case _:
                pass

    def _close(self, name: str) -> None:
        if name == "p" and self._open:
            self._end_paragraph(self._open.pop())
        elif name == "tbl" and self._tables:
            self._end_table(self._tables.pop())

    def _paragraph(self, element: Element) -> _Paragraph:
        properties = element.find("{*}pPr")
        if properties is None:
            return _Paragraph(None, is_item=False)
        level = outline_level(properties)
        if level is None:
            level = self.levels.get(value(properties, "pStyle"))
        return _Paragraph(level, is_item=level is None and properties.find("{*}numPr") is not None)

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts).strip()
        if self._tables:
            self._into_cell(text)
        elif paragraph.is_item:
            self._items.append(f"- {text}" if text else "")
        elif text:
            self._end_list()
            self._add(text, paragraph.level)
        for note in paragraph.notes:
            text = "\n".join(block.text for block in Paragraphs().read(note))
            if self._tables:
                self._into_cell(text)
            else:
                self._end_list()
                self._outline.text(text)

    def _add(self, text: str, level: int | None) -> None:
        if level == TITLE:
            self.title = self.title or text
            self._outline.text(text)
        elif level is not None:
            self._outline.heading(level, text)
        else:
            self._outline.text(text)

    def _into_cell(self, text: str) -> None:
        if text and self._tables[-1].rows and self._tables[-1].rows[-1]:
            self._tables[-1].rows[-1][-1].append(text)

    def _end_list(self) -> None:
        self._outline.text("\n".join(filter(None, self._items)))
        self._items.clear()

    def _end_table(self, table: _Table) -> None:
        rows = [[" ".join(cell) for cell in row] for row in table.rows]
        if self._tables:  # within another table's cell
            self._into_cell("\n".join(" | ".join(filter(None, row)) for row in rows))
        elif any(len(cell) > _LONGEST_CELL for row in rows for cell in row):
            for row in table.rows:
                for cell in row:
                    for text in cell:
                        self._outline.text(text)
        else:
            self._outline.table(rows)


def _is_hidden(run: Element) -> bool:
    vanish = run.find("{*}rPr/{*}vanish")
    return vanish is not None and attribute(vanish, "val") not in {"0", "false", "off"}
