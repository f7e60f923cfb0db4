import pytest
from tests.adapters.made_documents import lines, pdf

from botforge.adapters.extract.by_format import extract
from botforge.adapters.extract.limits import Limits
from botforge.adapters.extract.pdf_lines import Line
from botforge.adapters.extract.pdf_paragraphs import paragraphs
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_DRAWING = "0 0 100 100 re f"


def read(body: bytes, limits: Limits | None = None) -> ExtractedText:
    return extract(body, filename="a.pdf", content_type="application/pdf", limits=limits or Limits())


def refused(body: bytes, limits: Limits | None = None) -> Reason:
    with pytest.raises(DocumentFailed) as caught:
        read(body, limits)
    return caught.value.reason


def test_every_page_is_read_with_its_number_and_the_title() -> None:
    extracted = read(pdf(lines("First page."), lines("Second page."), title="Terms of trade"))

    assert extracted == ExtractedText("Terms of trade", (Block("First page.", page=1), Block("Second page.", page=2)))


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - x", "terms_v2.docx", r"\(anonymous\)"])
def test_a_title_that_is_none_is_left_out(title: str) -> None:
    assert read(pdf(lines("Text."), title=title)).title is None


def test_lines_that_run_on_are_one_paragraph() -> None:
    page = lines(
        "Refunds are paid within fourteen days after goods have",
        "arrived here, and to the account that",
        "you paid from.",
        "Exchanges are possible within thirty days, as long as the",
        "bicycle has not been ridden.",
    )

    assert [block.text for block in read(pdf(page)).blocks] == [
        "Refunds are paid within fourteen days after goods have arrived here, and to the account that you paid from.",
        "Exchanges are possible within thirty days, as long as the bicycle has not been ridden.",
    ]


def texts(*page: Line) -> list[str]:
    return [text for text, _ in paragraphs(page)]


def test_broken_words_are_joined_but_compounds_keep_their_hyphen() -> None:
    page = (
        Line("The war", broken=True),
        Line("ranty of a COVID", broken=True),
        Line("19 test covers"),
        Line("all parts."),
    )

    assert texts(*page) == ["The warranty of a COVID-19 test covers all parts."]


def test_bullets_and_short_lines_begin_paragraphs() -> None:
    lines_of_page = [
        "Delivery",
        "We deliver to these countries of the Union:",
        "• Denmark and Sweden, by our own van",
        "• Finland",
    ]

    assert texts(*(Line(text) for text in lines_of_page)) == lines_of_page


def test_larger_lines_are_headings() -> None:
    terms = (
        f"{lines('Terms', size=24)} BT /F1 16 Tf 72 600 Td (1. Refunds) Tj ET"
        " BT /F1 8 Tf 2 0 0 2 72 560 Tm (and exchanges) Tj ET"
        f" BT /F1 12 Tf 14 TL 72 500 Td ({'They are paid soon. ' * 4}) Tj T* ({'And in full. ' * 6}) Tj ET"
    )
    contact = f"{lines('2. Contact', size=16)} BT /F1 12 Tf 72 600 Td (Call us.) Tj ET"

    blocks = read(pdf(terms, contact)).blocks

    assert [(block.text[:20], block.headings, block.page) for block in blocks] == [
        ("Terms", ("Terms",), 1),
        ("1. Refunds and excha", ("Terms", "1. Refunds and exchanges"), 1),
        ("They are paid soon. ", ("Terms", "1. Refunds and exchanges"), 1),
        ("2. Contact", ("Terms", "2. Contact"), 2),
        ("Call us.", ("Terms", "2. Contact"), 2),
    ]


def test_pages_of_large_type_have_no_headings() -> None:
    slide = f"{lines('Few words', size=30)} BT /F1 9 Tf 72 50 Td (Footer of a slide) Tj ET"

    assert all(block.headings == () for block in read(pdf(slide)).blocks)


def test_a_title_on_every_page_heads_nothing() -> None:
    text = (
        "BT /F1 12 Tf 14 TL 72 500 Td ("
        + ") Tj T* (".join(["Refunds are paid as soon as goods arrive."] * 9)
        + ") Tj ET"
    )
    page = f"{lines('Northwind Cycles', size=18)} {text}"

    assert all(block.headings == () for block in read(pdf(page, page, page)).blocks)
    assert read(pdf(page, text)).blocks[0].headings == ("Northwind Cycles",)


def test_form_fields_and_remarks_are_read_with_their_names() -> None:
    field = "/Type /Annot /Subtype /Widget /Rect [0 0 90 20]"
    body = pdf(
        lines("Application"),
        catalog="/AcroForm << /Fields [100 0 R 101 0 R 102 0 R 103 0 R] /DA (/F1 0 Tf) >>",
        page="/Annots [100 0 R 101 0 R 102 0 R 103 0 R 104 0 R 105 0 R]",
        more=[
            f"<< {field} /FT /Tx /T (name) /TU (Full name) /V (Mia Holm) >>",
            f"<< {field} /FT /Ch /T (colour) /Opt [(red) (green)] /V (green) /Ff 131072 >>",
            f"<< {field} /FT /Btn /T (member) /V /Yes /AS /Yes /AP << /N << /Yes 3 0 R /Off 3 0 R >> >> >>",
            f"<< {field} /FT /Tx /T (empty) >>",
            "<< /Type /Annot /Subtype /FreeText /Rect [0 0 90 20] /Contents (Typed on the page) >>",
            "<< /Type /Annot /Subtype /Text /Rect [0 0 90 20] /Contents (A remark) >>",
        ],
    )

    assert [block.text for block in read(body).blocks] == [
        "Application",
        "Full name: Mia Holm\ncolour: green\nmember: Yes\nTyped on the page\nA remark",
    ]


def test_a_form_that_only_adobe_reader_shows_is_read_from_its_packets() -> None:
    template = (
        '<template xmlns="http://www.xfa.org/schema/xfa-template/3.0/"><subform><draw><value><text>Your order</text>'
        "</value></draw></subform></template>"
    )
    datasets = (
        '<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><city>Bergen</city></xfa:data>'
        "</xfa:datasets>"
    )
    body = pdf(
        lines("Please wait..."),
        catalog="/AcroForm << /Fields [] /XFA [(template) 100 0 R (datasets) 101 0 R] >>",
        more=[f"<< /Length {len(text)} >>\nstream\n{text}\nendstream" for text in (template, datasets)],
    )

    assert [block.text for block in read(body).blocks] == ["Please wait...", "Your order", "city: Bergen"]


def test_a_password_is_needed_or_it_is_not() -> None:
    assert refused(pdf(lines("Secret."), password="open sesame")) is Reason.ENCRYPTED
    assert read(pdf(lines("Not secret."), password="")).blocks[0].text == "Not secret."


def test_pages_of_images_have_no_text_layer_and_empty_pages_are_empty() -> None:
    assert refused(pdf(_DRAWING, "")) is Reason.NO_TEXT_LAYER
    assert refused(pdf("", "")) is Reason.EMPTY


def test_pages_without_text_among_others_are_noted() -> None:
    assert read(pdf(lines("Text."), _DRAWING)).notes == ("Pages that hold images and no text: 2.",)


@pytest.mark.parametrize(
    ("healthy", "damaged"),
    [
        (b"xref\n", b"xxxx\n"),
        (b"startxref", b"startxxxx"),
        (b"%PDF-1.4", b"HTTP/1.1 200 OK\r\n\r\n%PDF-1.4"),
        (b"%%EOF", b"\0" * 2_000),
        (b"/Count 1", b"/Count 99"),
    ],
)
def test_a_damaged_structure_is_repaired(healthy: bytes, damaged: bytes) -> None:
    body = pdf(lines("Still here.")).replace(healthy, damaged)

    assert damaged in body
    assert read(body).blocks[0].text == "Still here."


@pytest.mark.parametrize("body", [b"%PDF-1.7\n", b"%PDF-1.7\n" + b"\xfe\0\1\2" * 500, pdf(lines("x"))[:40]])
def test_what_cannot_be_repaired_is_corrupt(body: bytes) -> None:
    assert refused(body) is Reason.CORRUPT


def test_too_many_pages_are_too_complex() -> None:
    assert refused(pdf("", "", ""), Limits(pages=2)) is Reason.TOO_COMPLEX
