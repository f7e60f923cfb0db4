"""PDF by PDFium: the text layer of every page, form fields included."""

import re

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from botforge.adapters.extract.decoding import clean
from botforge.adapters.extract.limits import MAX_CHARACTERS, MAX_PAGES, too_complex
from botforge.adapters.extract.text import paragraphs
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_HYPHENATED = re.compile(r"(\w)[-\u2010\ufffe\u0002]\n(?=[a-zà-ÿ])")
_SENTENCE_END = re.compile(r"[.!?:;。！？]\W*$")
_SHORT_LINE = 0.7  # of the page's longest line: a paragraph's last line seldom reaches the margin


def extract(body: bytes) -> ExtractedText:
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code in {pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY}:
            raise DocumentFailed(Reason.ENCRYPTED, "It is encrypted: a password is needed to read it.") from error
        raise DocumentFailed(Reason.CORRUPT, "It is not a readable PDF file.") from error
    with document:
        if len(document) > MAX_PAGES:
            raise too_complex(f"It has more than {MAX_PAGES} pages.")
        blocks = _blocks(document)
        if not blocks:
            raise _without_text(document)
        return ExtractedText(_title(document), tuple(blocks))


def _blocks(document: pdfium.PdfDocument) -> list[Block]:
    if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
        document.init_forms()
    blocks: list[Block] = []
    characters = 0
    for number in range(len(document)):
        text = _page_text(document, number)
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise too_complex(f"It holds more than {MAX_CHARACTERS} characters.")
        blocks.extend(paragraphs(_reflow(text), page=number + 1))
    return blocks


def _page_text(document: pdfium.PdfDocument, number: int) -> str:
    """The page's text; a page that cannot be read is one without text."""
    try:
        page = document[number]
        # What is filled into form fields lies in annotations: flattened, it becomes part of the page.
        if document.formenv:
            pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
            page.close()
            page = document[number]
        text_page = page.get_textpage()
        text = text_page.get_text_bounded(errors="replace")
        text_page.close()
        page.close()
    except pdfium.PdfiumError:
        return ""
    return clean(text.replace("\ufffe", "-"))


def _reflow(text: str) -> str:
    """Lines back into paragraphs, and words that a line end broke back together."""
    text = _HYPHENATED.sub(r"\1", text)
    lines = [line.strip() for line in text.split("\n")]
    longest = max(map(len, lines), default=0)
    parts: list[str] = []
    for line in lines:
        parts.append(line)
        ends = not line or (len(line) < _SHORT_LINE * longest and (_SENTENCE_END.search(line) or len(line) < 60))
        parts.append("\n\n" if ends else " ")
    return "".join(parts)


def _title(document: pdfium.PdfDocument) -> str | None:
    title = clean(document.get_metadata_value("Title")).strip()
    # Word processors put file names here.
    return (
        None if not title or re.search(r"\.\w{2,4}$|^untitled|^microsoft word", title, re.IGNORECASE) else title[:200]
    )


def _without_text(document: pdfium.PdfDocument) -> DocumentFailed:
    images = any(
        item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE
        for number in range(min(len(document), 20))
        for item in document[number].get_objects(max_depth=3)
    )
    if images:
        return DocumentFailed(Reason.NO_TEXT_LAYER, "Its pages are images without a text layer.")
    return DocumentFailed(Reason.EMPTY, "There is no text in it.")
