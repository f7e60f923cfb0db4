"""Which reader a document gets: by its name and type, and by what its bytes say."""

import re
from collections.abc import Callable

from botforge.domain.chunk import ExtractedText
from botforge.domain.errors import DocumentFailed, DocumentRejected
from botforge.domain.formats import SUPPORTED_EXTENSIONS, Format, format_of
from botforge.domain.reasons import Reason

_HTML = re.compile(rb"^\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"\x7fELF", b"MZ\x90")
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_PDF_HEAD = 1_024  # readers accept the header anywhere in the first kilobyte (PDF 1.7, implementation note 13)


def extract(body: bytes, *, filename: str, content_type: str) -> ExtractedText:
    """The document's text. Raises DocumentRejected or DocumentFailed."""
    promised = format_of(filename, content_type)
    if promised is None:
        raise DocumentRejected(
            Reason.UNSUPPORTED_TYPE, f"This type of file is not read; these are: {', '.join(SUPPORTED_EXTENSIONS)}."
        )
    if not body.strip():
        raise DocumentFailed(Reason.EMPTY, "The file is empty.")
    extracted = _reader(_found(body, promised))(body)
    if not any(block.text.strip() for block in extracted.blocks):
        raise DocumentFailed(Reason.EMPTY, "There is no text in it.")
    return extracted


def _found(body: bytes, promised: Format) -> Format:
    """What the bytes are, if that can be read under this name. Raises DocumentRejected for a lie."""
    is_pdf, is_zip, is_ole = b"%PDF-" in body[:_PDF_HEAD], body.startswith(b"PK\x03\x04"), body.startswith(_OLE)
    is_html = _HTML.match(body[:4_096]) is not None
    match promised:
        case Format.PDF:
            # Browsers save error pages under the name of the file that they should have fetched.
            honest = is_pdf or not (is_html or is_zip or is_ole)
        case Format.DOCX:
            honest = is_zip or is_ole
        case Format.HTML | Format.TEXT | Format.MARKDOWN | Format.CSV | Format.JSON:
            honest = not (body.startswith(_BINARY) or is_ole)
    if not honest:
        raise DocumentRejected(Reason.CONTENT_MISMATCH, f"Its content is not what its name says ({promised.value}).")
    return promised


def _reader(found: Format) -> Callable[[bytes], ExtractedText]:
    """Readers are imported when a document needs them: each brings its own library."""
    match found:
        case Format.TEXT:
            from botforge.adapters.extract.text import extract as reader
        case Format.MARKDOWN:
            from botforge.adapters.extract.markdown import extract as reader
        case Format.HTML:
            from botforge.adapters.extract.html import extract as reader
        case Format.PDF:
            from botforge.adapters.extract.pdf import extract as reader
        case Format.DOCX:
            from botforge.adapters.extract.docx import extract as reader
        case Format.CSV:
            from botforge.adapters.extract.csv import extract as reader
        case Format.JSON:
            from botforge.adapters.extract.json import extract as reader
    return reader
