"""What a document is taken for: its name, its type and its bytes need not agree."""

import random

import pytest
from tests.adapters.made_documents import archive, docx, lines, paragraph, pdf

from botforge.adapters.extract.by_format import actual_format
from botforge.domain.errors import DocumentError, DocumentFailed, DocumentRejected
from botforge.domain.formats import Format
from botforge.domain.reasons import Reason

_PDF, _DOCX = pdf(lines("Text.")), docx(paragraph("Text"))
_HTML = b"\n<!-- x --><!DOCTYPE html><html><body>404 not found</body></html>"
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600
_XLSX = archive({"xl/workbook.xml": "<workbook/>"})
_NOISE = random.Random(1).randbytes(4_000)
_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


def kind(body: bytes, filename: str, content_type: str = "") -> Format:
    return actual_format(body, filename=filename, content_type=content_type)


@pytest.mark.parametrize("filename", ["a.pdf", "a.docx", "a.txt", "a.md", "a.html", "a.csv", "a.json"])
def test_a_pdf_and_a_docx_are_known_under_every_name(filename: str) -> None:
    assert kind(_PDF, filename) is Format.PDF
    assert kind(_DOCX, filename) is Format.DOCX


@pytest.mark.parametrize("filename", ["a.pdf", "a.docx"])
def test_a_saved_error_page_is_called_one(filename: str) -> None:
    with pytest.raises(DocumentRejected, match="it is a web page"):
        kind(_HTML, filename)


def test_a_text_that_speaks_of_pdf_is_text() -> None:
    assert kind(b"A PDF begins with %PDF- and a version.", "a.txt") is Format.TEXT


@pytest.mark.parametrize(
    ("filename", "body"),
    [
        ("a.pdf", _HTML),
        ("a.pdf", b"plain text"),
        ("a.docx", _HTML),
        ("a.docx", b"plain text"),
        ("a.docx", b"{\\rtf1 text}"),
        ("a.docx", _OLD_OFFICE),
        ("a.docx", _NOISE),
        ("a.txt", _NOISE),
        ("a.md", _PNG),
        ("a.csv", _XLSX),
        ("a.json", _OLD_OFFICE),
        ("a.html", _PNG),
        ("a.txt", b"{\\rtf1 text}"),
    ],
)
def test_bytes_that_are_not_what_the_name_says_are_refused(filename: str, body: bytes) -> None:
    with pytest.raises(DocumentRejected) as caught:
        kind(body, filename)

    assert caught.value.reason is Reason.CONTENT_MISMATCH


@pytest.mark.parametrize("filename", ["a.xlsx", "a.doc", "a.zip", "a.png", "a.docx.exe", "a.pdf "])
def test_other_names_are_unsupported_whatever_the_type_and_the_bytes_say(filename: str) -> None:
    with pytest.raises(DocumentRejected) as caught:
        kind(_PDF, filename, "application/pdf")

    assert caught.value.reason is Reason.UNSUPPORTED_TYPE


def test_a_name_without_extension_goes_by_its_type() -> None:
    assert kind(b"text", "README", "text/markdown; charset=utf-8") is Format.MARKDOWN
    with pytest.raises(DocumentRejected):
        kind(b"text", "README", "binary/octet-stream")


def test_a_workbook_named_docx_is_no_document() -> None:
    with pytest.raises(DocumentError) as caught:
        kind(_XLSX, "a.docx")

    assert caught.value.reason is Reason.CONTENT_MISMATCH


def test_a_damaged_zip_named_docx_is_for_the_reader_to_judge() -> None:
    assert kind(_DOCX[:-200], "a.docx") is Format.DOCX


def test_a_protected_office_file_is_encrypted() -> None:
    with pytest.raises(DocumentFailed) as caught:
        kind(_OLD_OFFICE + "EncryptedPackage".encode("utf-16-le"), "a.docx")

    assert caught.value.reason is Reason.ENCRYPTED
