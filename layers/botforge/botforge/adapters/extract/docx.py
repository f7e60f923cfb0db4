"""DOCX: WordprocessingML, in its transitional and its strict namespaces (ECMA-376, ISO/IEC 29500)."""

from collections.abc import Iterator

from botforge.adapters.extract.docx_reader import Paragraphs
from botforge.adapters.extract.docx_styles import heading_levels
from botforge.adapters.extract.html import read as read_html
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits, too_complex
from botforge.adapters.extract.package import Package
from botforge.adapters.extract.text import read as read_text
from botforge.adapters.extract.xml_tree import Element, attribute
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_MAX_NESTED_DOCUMENTS = 3  # levels of documents within documents (altChunk)
_EDGES = ("header", "footer")


def read(body: bytes, _content_type: str = "", limits: Limits = DEFAULT_LIMITS, *, level: int = 0) -> ExtractedText:
    """The body's text, each footnote after the paragraph that refers to it, headers and footers (once) at the end.

    Deleted text (tracked changes), hidden text, field codes and comments are left out.
    """
    package = Package.open(body, limits)
    main = next((target for kind, target in package.relations("").values() if kind == "officeDocument"), "")
    document = package.xml(main or "word/document.xml")
    if document is None:
        raise DocumentFailed(Reason.CORRUPT, "It holds no document part.")
    relations = package.relations(main or "word/document.xml")
    by_kind = dict(relations.values())
    reader = Paragraphs(
        levels=heading_levels(package.xml(by_kind["styles"]) if "styles" in by_kind else None),
        notes={kind: _notes(package, by_kind.get(f"{kind}s")) for kind in ("footnote", "endnote")},
        embedded=lambda relation: _embedded(package, relations.get(relation, ("", ""))[1], limits, level),
    )
    blocks = reader.read(document)
    blocks += _edges(package, relations)
    if "comments" in by_kind:
        package.notes.append("Comments were left out.")
    return ExtractedText(_title(package) or reader.title, tuple(blocks), tuple(package.notes))


def _title(package: Package) -> str | None:
    core = next((target for kind, target in package.relations("").values() if kind == "core-properties"), None)
    root = package.xml(core) if core else None
    return None if root is None else root.findtext("{http://purl.org/dc/elements/1.1/}title")


def _notes(package: Package, name: str | None) -> dict[str, Element]:
    """Foot- or endnotes by their id, without the separators that stand among them."""
    root = package.xml(name) if name else None
    found: dict[str, Element] = {}
    for note in () if root is None else root:
        if attribute(note, "type") in {"", "normal"}:
            found[attribute(note, "id")] = note
    return found


def _edges(package: Package, relations: dict[str, tuple[str, str]]) -> Iterator[Block]:
    seen: set[str] = set()
    for edge in _EDGES:
        for kind, target in relations.values():
            root = package.xml(target) if kind == edge else None
            for block in () if root is None else Paragraphs().read(root):
                if any(character.isalpha() for character in block.text) and block.text not in seen:
                    seen.add(block.text)
                    yield Block(block.text)


def _embedded(package: Package, name: str, limits: Limits, level: int) -> tuple[Block, ...]:
    """The text of another document that this one includes (altChunk)."""
    if level == _MAX_NESTED_DOCUMENTS:
        raise too_complex(f"holds documents within documents, more than {_MAX_NESTED_DOCUMENTS} deep")
    content = package.part(name) if name else None
    match name.lower().rsplit(".", 1)[-1]:
        case _ if not content:
            return ()
        case "html" | "htm" | "xhtml":
            return read_html(content).blocks
        case "txt":
            return read_text(content).blocks
        case "docx" | "docm" | "dotx":
            return read(content, limits=limits, level=level + 1).blocks
        case extension:
            package.notes.append(f"An included document of type {extension} was left out.")
            return ()
