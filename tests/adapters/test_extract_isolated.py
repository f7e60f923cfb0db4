"""What a document does to the process that reads it ends as the document's reason, in bounded time."""

import sys

import pytest
from tests.adapters.made_documents import archive, docx, lines, paragraph, pdf

from botforge.adapters.extract import by_format, child
from botforge.adapters.extract.isolated import IsolatedExtractor
from botforge.domain.errors import DocumentError, DocumentFailed, DocumentRejected
from botforge.domain.reasons import Reason
from botforge.ports.extraction import Extractor

_MISBEHAVING = "tests.fakes.misbehaving_reader"
_bounds_memory = pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not bound a process's address space")


@pytest.fixture
def extractor() -> Extractor:
    return IsolatedExtractor()


def failed(extractor: Extractor, body: bytes, filename: str) -> Reason:
    with pytest.raises(DocumentFailed) as caught:
        extractor.extract(body, filename=filename, content_type="")
    return caught.value.reason


def outcome_of(extractor: Extractor, body: bytes, filename: str) -> Reason | None:
    try:
        extractor.extract(body, filename=filename, content_type="")
    except DocumentError as error:
        return error.reason
    return None


@pytest.mark.parametrize(
    ("filename", "body"),
    [
        ("a.txt", "Grüße, 世界 \U0001f6b2\n\nEnd".encode()),
        ("a.md", b"# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"),
        ("a.html", b"<title>T</title><h1>H</h1>text"),
        ("a.csv", b"name,price\nLamp,12\n"),
        ("a.json", b'{"a": [1, {"b": "c"}]}'),
        ("a.pdf", pdf(lines("One"), lines("Two"), title="T")),
        ("a.docx", docx(paragraph("One"))),
    ],
)
def test_the_result_is_that_of_the_reader(extractor: Extractor, filename: str, body: bytes) -> None:
    expected = by_format.extract(body, filename=filename, content_type="")

    assert extractor.extract(body, filename=filename, content_type="") == expected


def test_refusals_come_across_with_their_reason_and_sentence(extractor: Extractor) -> None:
    with pytest.raises(DocumentRejected) as caught:
        extractor.extract(b"plain", filename="a.pdf", content_type="")

    assert caught.value.reason is Reason.CONTENT_MISMATCH
    assert caught.value.message == "Its name says pdf, but it is plain text."


@pytest.mark.parametrize(
    "filename", ["-c.txt", "--help.txt", "a\nb.txt", "$(id).txt", "ü 世.txt", "\ud800.txt", "nul\0.txt"]
)
def test_a_name_is_only_a_name(extractor: Extractor, filename: str) -> None:
    assert extractor.extract(b"text", filename=filename, content_type="x; y").blocks[0].text == "text"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("segv.txt", Reason.CORRUPT),
        ("kill.txt", Reason.TOO_COMPLEX),
        ("abort.txt", Reason.TOO_COMPLEX),
        ("flood.txt", Reason.TOO_COMPLEX),
    ],
)
def test_a_reader_that_dies_is_the_documents_end_and_not_ours(deed: str, reason: Reason) -> None:
    assert failed(IsolatedExtractor(module=_MISBEHAVING), b"x", deed) is reason


def test_a_reader_that_never_ends_is_stopped_at_the_deadline() -> None:
    assert failed(IsolatedExtractor(module=_MISBEHAVING, deadline=1.0), b"x", "spin.txt") is Reason.TOO_COMPLEX


def test_a_reader_has_so_much_processor_time() -> None:
    extractor = IsolatedExtractor(module=_MISBEHAVING, cpu_seconds=1, deadline=60.0)

    with pytest.raises(DocumentFailed) as caught:
        extractor.extract(b"x", filename="spin.txt", content_type="")

    assert caught.value.message == "It takes more computing time to read than a document may take."


def test_trouble_that_is_not_the_documents_is_tried_again() -> None:
    with pytest.raises(RuntimeError, match="the extraction process failed"):
        IsolatedExtractor(module=_MISBEHAVING).extract(b"x", filename="exit.txt", content_type="")
    with pytest.raises(RuntimeError, match="the extraction process failed"):
        IsolatedExtractor(module="botforge.no_such_module").extract(b"x", filename="a.txt", content_type="")


@_bounds_memory
def test_a_document_that_needs_too_much_memory_is_too_complex() -> None:
    text = b"word " * 2_000_000
    limited = IsolatedExtractor(memory_bytes=120 * 1024 * 1024)

    assert failed(limited, b"<p>" * 3_000_000 + text, "a.html") is Reason.TOO_COMPLEX
    assert limited.extract(b"<p>short", filename="a.html", content_type="").blocks[0].text == "short"


def test_the_process_inherits_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    extractor = IsolatedExtractor(module="tests.fakes.environment_reader")

    text = extractor.extract(b"x", filename="a.txt", content_type="").blocks[0].text

    assert "PYTHONPATH" in text
    assert "AWS_SECRET_ACCESS_KEY" not in text
    assert "DATABASE_URL" not in text


def test_an_unforeseen_error_of_a_reader_is_a_damaged_document() -> None:
    answer = child.result(b'{"a": 1}', "a.json", "")
    assert "blocks" in answer

    class Body(bytes):
        def startswith(self, *_: object) -> bool:
            raise ZeroDivisionError

    assert child.result(Body(b"x"), "a.txt", "")["reason"] == Reason.CORRUPT.value


@pytest.mark.parametrize(
    ("filename", "body"),
    [
        ("bomb.docx", archive({"word/document.xml": b" " * 150_000_000})),
        ("deep.json", b"[" * 1_000_000),
        ("deep.html", b"<div>" * 300_000),
        ("wide.html", b"<table><tr>" + b"<td>x" * 100_000),
        ("deep.md", b">" * 50_000 + b" x"),
        ("brackets.md", b"[" * 50_000),
        ("stars.md", b"*a_ " * 20_000),
        ("spaces.txt", b" " * 5_000_000 + b"x"),
        ("lines.csv", b"a,b\n" * 500_000),
        ("quotes.csv", b'"' * 1_000_001),
        ("numbers.json", b"9" * 1_000_000),
        ("tags.html", b"<" * 500_000),
        ("attributes.html", b"<p " + b"a='1' " * 200_000 + b">x"),
        ("comments.html", b"<!--" * 200_000),
        ("objects.pdf", b"%PDF-1.4\n" + b"1 0 obj\n<<" * 100_000),
        ("nested.pdf", b"%PDF-1.4\n1 0 obj\n" + b"[" * 200_000),
    ],
)
def test_a_hostile_document_ends_in_bounded_time(filename: str, body: bytes) -> None:
    outcome = outcome_of(IsolatedExtractor(deadline=60.0, cpu_seconds=30), body, filename)

    assert outcome in {None, Reason.TOO_COMPLEX, Reason.CORRUPT, Reason.EMPTY, Reason.CONTENT_MISMATCH}
