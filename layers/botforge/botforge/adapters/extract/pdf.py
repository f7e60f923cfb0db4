"""PDF, by PDFium."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits, too_complex
from botforge.adapters.extract.outline import Outline
from botforge.adapters.extract.pdf_forms import annotation_lines, xfa_texts
from botforge.adapters.extract.pdf_lines import Line, heading_sizes, page_lines, running_titles
from botforge.adapters.extract.pdf_paragraphs import paragraphs
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_LOCKED = (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)
_NO_TITLE = re.compile(  # what programs put there
    r"\s*(?:untitled.*|\(?anonymous\)?|unspecified|microsoft \w+ - .*"
    r"|.*\.(?:docx?|odt|rtf|pages|pdf|tex|dvi|indd|qxd|xlsx?))?\s*",
    re.IGNORECASE,
)
_SHOWN = [pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_SHADING]


def read(body: bytes, _content_type: str = "", limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    """A block or more for each page, then what the page's form fields and annotations say.

    A document that opens with the empty password is read. Raises DocumentFailed: encrypted, corrupt, too_complex;
    no_text_layer if its pages show images or drawings and hold no text.
    """
    document = _opened(body)
    try:
        document.init_forms()
        pages = len(document)
        if pages > limits.pages:
            raise too_complex(f"has more than {limits.pages} pages")
        reader = _Reader(document)
        blocks = reader.read(pages)
        blocks += [Block(text) for text in xfa_texts(document)]
        if not blocks:
            reader.explain_silence()
        return ExtractedText(_title(document), tuple(blocks), tuple(reader.notes()))
    finally:
        document.close()


def _opened(body: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code in _LOCKED:
            raise DocumentFailed(Reason.ENCRYPTED, "It is protected by a password.") from error
        raise DocumentFailed(Reason.CORRUPT, "It is damaged beyond reading.") from error


def _title(document: pdfium.PdfDocument) -> str | None:
    title = document.get_metadata_value("Title")
    return None if _NO_TITLE.fullmatch(title) else title


@dataclass(slots=True)
class _Page:
    number: int  # from 1
    lines: list[Line] = field(default_factory=list[Line])
    remarks: str = ""


class _Reader:
    def __init__(self, document: pdfium.PdfDocument) -> None:
        self._document = document
        self._damaged: list[int] = []
        self._pictures: list[int] = []

    def read(self, count: int) -> list[Block]:
        pages = [self._page(number) for number in range(1, count + 1)]
        sizes = heading_sizes([page.lines for page in pages])
        running = running_titles([page.lines for page in pages])
        outline = Outline()
        for page in pages:
            outline.page = page.number
            for text, level in paragraphs(page.lines, sizes):
                if level and text not in running:
                    outline.heading(level, text)
                else:
                    outline.text(text)
            outline.text(page.remarks)
        return outline.blocks

    def _page(self, number: int) -> _Page:
        found = _Page(number)
        try:
            page = self._document[number - 1]
        except pdfium.PdfiumError:
            self._damaged.append(number)
            return found
        try:
            found.lines = page_lines(page)
            found.remarks = "\n".join(annotation_lines(self._document, page))
            silent = not found.remarks and not any(line.text for line in found.lines)
            if silent and any(page.get_objects(filter=_SHOWN)):
                self._pictures.append(number)
        except pdfium.PdfiumError:
            self._damaged.append(number)
        finally:
            page.close()
        return found

    def explain_silence(self) -> None:
        """Raise for a document without text; return if there is truly nothing in it."""
        if self._pictures:
            raise DocumentFailed(Reason.NO_TEXT_LAYER, "Its pages are images without text; only OCR could read them.")
        if self._damaged:
            raise DocumentFailed(Reason.CORRUPT, "None of its pages can be read.")

    def notes(self) -> Iterator[str]:
        if self._damaged:
            yield f"Pages that could not be read: {_listed(self._damaged)}."
        if self._pictures:
            yield f"Pages that hold images and no text: {_listed(self._pictures)}."


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown} and {len(numbers) - 20} more" if len(numbers) > 20 else shown
