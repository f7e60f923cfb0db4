"""Finds out what a document is, and has the right reader read it."""

from collections.abc import Callable

from botforge.adapters.extract import sniffing
from botforge.adapters.extract.cleaning import cleaned
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits, too_complex
from botforge.domain.chunk import ExtractedText
from botforge.domain.errors import DocumentFailed, DocumentRejected
from botforge.domain.formats import SUPPORTED_EXTENSIONS, Format, format_of
from botforge.domain.reasons import Reason

_BLANK = b"\0 \t\r\n\xef\xbb\xbf\xfe\xff"  # white space and byte order marks
_PACKED = frozenset({Format.PDF, Format.DOCX})


def extract(body: bytes, *, filename: str, content_type: str, limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    """The document's text, cleaned. Raises DocumentRejected or DocumentFailed, as Extractor says.

    Runs in this process: for documents that anybody may have sent see ``isolated``.
    """
    found = actual_format(body, filename=filename, content_type=content_type)
    try:
        extracted = cleaned(_reader(found)(body, content_type, limits), limits)
    except RecursionError as error:
        raise too_complex("nests deeper than a document may") from error
    except MemoryError as error:
        raise too_complex("needs more memory than a document may take") from error
    if not extracted.blocks:
        raise DocumentFailed(Reason.EMPTY, "There is no text in this document.")
    return extracted


def actual_format(body: bytes, *, filename: str, content_type: str) -> Format:
    """What to read ``body`` as. Raises DocumentRejected (unsupported_type, content_mismatch) or DocumentFailed.

    A PDF or a DOCX under another name is read as what it is: such bytes cannot be meant otherwise. HTML under the name
    of a PDF or a DOCX is refused: it is the error page that a browser saved in place of the document.
    """
    promised = promised_format(filename, content_type)
    if not body.strip(_BLANK):
        raise DocumentFailed(Reason.EMPTY, "There is no text in this document.")
    seen = sniffing.looks_like(body)
    if seen is Format.DOCX or (seen is Format.PDF and (promised in _PACKED or body.startswith(b"%PDF-"))):
        return seen  # a text can speak of PDF's mark, too
    match promised:
        case Format.PDF:
            _check_may_be_pdf(body, seen)
        case Format.DOCX:
            _check_may_be_docx(body, seen)
        case _ if sniffing.is_binary(body):
            raise _mismatch(promised, "its bytes are not text")
        case _:
            pass
    return promised


def promised_format(filename: str, content_type: str) -> Format:
    """What a document's name says it is. Raises DocumentRejected for what we do not read."""
    promised = format_of(filename, content_type)
    if promised is None:
        raise DocumentRejected(
            Reason.UNSUPPORTED_TYPE, f"This type of file is not read; these are: {', '.join(SUPPORTED_EXTENSIONS)}."
        )
    return promised


def _check_may_be_pdf(body: bytes, seen: Format | None) -> None:
    """Let pass what may be a PDF without its first bytes; the reader then says whether it is one."""
    if seen is Format.HTML:
        raise _mismatch(Format.PDF, "it is a web page")
    if not sniffing.is_binary(body):
        raise _mismatch(Format.PDF, "it is plain text")


def _check_may_be_docx(body: bytes, seen: Format | None) -> None:
    if sniffing.is_encrypted_office(body):
        raise DocumentFailed(Reason.ENCRYPTED, "It is protected by a password.")
    if sniffing.is_ole(body):
        raise _mismatch(Format.DOCX, "it is an Office file from before 2007")
    if seen is Format.HTML:
        raise _mismatch(Format.DOCX, "it is a web page")
    if not sniffing.is_zip(body):
        raise _mismatch(Format.DOCX, "its bytes are no Word document")
    raise _mismatch(Format.DOCX, "it is an archive of something else")


def _mismatch(promised: Format, fact: str) -> DocumentRejected:
    return DocumentRejected(Reason.CONTENT_MISMATCH, f"Its name says {promised.value}, but {fact}.")


def _reader(found: Format) -> Callable[[bytes, str, Limits], ExtractedText]:
    """Readers are imported when a document needs them: each brings its own library."""
    match found:
        case Format.TEXT:
            from botforge.adapters.extract.text import read
        case Format.MARKDOWN:
            from botforge.adapters.extract.markdown import read
        case Format.HTML:
            from botforge.adapters.extract.html import read
        case Format.CSV:
            from botforge.adapters.extract.csv import read
        case Format.JSON:
            from botforge.adapters.extract.json import read
        case Format.PDF:
            from botforge.adapters.extract.pdf import read
        case Format.DOCX:
            from botforge.adapters.extract.docx import read
    return read
