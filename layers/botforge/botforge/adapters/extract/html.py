"""HTML: what a reader sees, with headings as sections, tables a row a line, lists an item a line."""

import re
from collections.abc import Iterator

from lxml import etree, html

from botforge.adapters.extract.decoding import clean, decode
from botforge.adapters.extract.headings import HeadingPath
from botforge.adapters.extract.limits import MAX_DEPTH, too_complex
from botforge.domain.chunk import Block, ExtractedText

_HIDDEN = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "iframe",
        "object",
        "svg",
        "math",
        "nav",
        "form",
        "button",
        "select",
        "input",
        "textarea",
        "canvas",
        "audio",
        "video",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADING = re.compile(r"h([1-6])")
_SPACE = re.compile(r"\s+")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def extract(body: bytes) -> ExtractedText:
    return extract_text(decode(body, declared=True))


def extract_text(source: str) -> ExtractedText:
    """Read HTML that is text already. Markup may be as broken as browsers accept."""
    source = _XML_DECLARATION.sub("", clean(source))
    if not source.strip():
        return ExtractedText(None, ())
    # huge_tree stays off: libxml2 then bounds depth and text nodes by itself. No network, no entities, no DTD.
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    root = html.document_fromstring(source.encode("utf-8"), parser=parser, ensure_head_body=True)
    title = _squeeze(root.findtext(".//title") or "") or None
    reader = _Reader()
    reader.walk(root, 0)
    reader.flush()
    return ExtractedText(title or reader.first_heading, tuple(reader.blocks))


class _Reader:
    """Goes through the tree once, gathering inline text until a block element ends it."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.first_heading: str | None = None
        self._path = HeadingPath()
        self._text: list[str] = []

    def walk(self, element: etree._Element, depth: int) -> None:
        if depth > MAX_DEPTH * 2:
            raise too_complex("Its elements are nested too deeply.")
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in _HIDDEN and tag != "head":
            return
        if tag == "head":
            return
        heading = _HEADING.fullmatch(tag)
        if heading:
            self._heading(element, int(heading[1]))
            return
        if tag == "tr":
            self._line(" | ".join(_cells(element)))
            return
        if tag == "pre":
            self.flush()
            self._add("".join(element.itertext()).strip("\n"))
            return
        if tag == "br":
            self._text.append("\n")
        block = tag in _BLOCKS
        if block and tag not in {"li", "tbody", "thead", "tfoot"}:
            self.flush()
        if tag == "li":
            self._text.append("\n- ")
        self._text.append(element.text or "")
        for child in element:
            self.walk(child, depth + 1)
            self._text.append(child.tail or "")
        if block and tag != "li":
            self.flush()

    def flush(self) -> None:
        """End the paragraph."""
        lines = (_SPACE.sub(" ", line).strip() for line in "".join(self._text).split("\n"))
        self._text.clear()
        self._add("\n".join(line for line in lines if line and line != "-"))

    def _heading(self, element: etree._Element, level: int) -> None:
        self.flush()
        text = _squeeze("".join(element.itertext()))
        self.first_heading = self.first_heading or text or None
        self._path.enter(level, text)

    def _line(self, line: str) -> None:
        if line.strip(" |"):
            self._text.append(f"\n{line}\n")

    def _add(self, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(text, self._path.path))


def _cells(row: etree._Element) -> Iterator[str]:
    for cell in row.iter("td", "th"):
        yield _squeeze("".join(part for part in cell.itertext()))


def _squeeze(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
