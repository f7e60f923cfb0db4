import pytest
from tests.adapters.made_documents import W_STRICT, W, archive, docx, paragraph, table

from botforge.adapters.extract.by_format import extract
from botforge.adapters.extract.limits import Limits
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")


def read(body: bytes, limits: Limits | None = None) -> ExtractedText:
    return extract(body, filename="a.docx", content_type="", limits=limits or Limits())


def texts(body: bytes) -> list[str]:
    return [block.text for block in read(body).blocks]


def refused(body: bytes, limits: Limits | None = None) -> Reason:
    with pytest.raises(DocumentFailed) as caught:
        read(body, limits)
    return caught.value.reason


def _part(name: str, content: str) -> str:
    return f'<w:{name} xmlns:w="{W}">{content}</w:{name}>'


@pytest.mark.parametrize("namespace", [W, W_STRICT])
def test_paragraphs_are_read_in_both_namespaces(namespace: str) -> None:
    assert texts(docx(paragraph("One") + paragraph("Two &amp; three"), namespace=namespace)) == ["One", "Two & three"]


def test_headings_by_style_by_inheritance_and_by_level() -> None:
    styles = _part(
        "styles",
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Level2"/></w:style>'
        '<w:style w:styleId="Level2"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:styleId="Loop"><w:name w:val="y"/><w:basedOn w:val="Loop"/></w:style>'
        '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>',
    )
    body = (
        paragraph("Handbook", style="Titel")
        + paragraph("Leave", style="berschrift1")
        + paragraph("Parents", style="Own")
        + paragraph("Text.", style="Loop")
        + paragraph("Pay", properties='<w:outlineLvl w:val="0"/>')
        + paragraph("More.", properties='<w:outlineLvl w:val="9"/>')
    )

    assert read(docx(body, {"styles.xml": styles})) == ExtractedText(
        "Handbook",
        (
            Block("Handbook"),
            Block("Leave", ("Leave",)),
            Block("Parents", ("Leave", "Parents")),
            Block("Text.", ("Leave", "Parents")),
            Block("Pay", ("Pay",)),
            Block("More.", ("Pay",)),
        ),
    )


def test_tracked_changes_are_read_as_accepted() -> None:
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>deleted </w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>inserted </w:t></w:r></w:ins><w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        "<w:moveTo><w:r><w:t>moved here</w:t></w:r></w:moveTo></w:p>"
    )

    assert texts(docx(body)) == ["kept inserted moved here"]


def test_hidden_text_and_field_codes_are_left_out() -> None:
    body = (
        '<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr>'
        "<w:t>seen </w:t></w:r><w:r><w:instrText>PAGEREF _1</w:instrText></w:r><w:fldSimple><w:r><w:t>7</w:t></w:r>"
        "</w:fldSimple></w:p>"
    )

    assert texts(docx(body)) == ["seen 7"]


def test_tabs_breaks_links_and_controls_are_read() -> None:
    body = (
        "<w:sdt><w:sdtPr><w:t>no</w:t></w:sdtPr><w:sdtContent><w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/></w:r>"
        "<w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:noBreakHyphen/><w:t>x</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>"
    )

    assert texts(docx(body)) == ["a b\nlink-x"]


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Around</w:t><mc:AlternateContent><mc:Choice><wps:txbx>"
        f"{box}</wps:txbx></mc:Choice><mc:Fallback><v:textbox>{box}</v:textbox></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )

    assert texts(docx(body)) == ["In the box", "Around"]
    assert texts(docx(f"<w:p><w:r><w:pict><v:textbox>{box}</v:textbox></w:pict></w:r></w:p>")) == ["In the box"]


def test_footnotes_follow_their_paragraph_and_headers_come_last() -> None:
    notes = _part(
        "footnotes",
        f'<w:footnote w:id="-1" w:type="separator">{paragraph("---")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("The note.")}</w:footnote>',
    )
    body = '<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("After")
    parts = {
        "footnotes.xml": notes,
        "footer1.xml": _part("ftr", paragraph("Page 1 of 2")),
        "header1.xml": _part("hdr", paragraph("Northwind")),
        "header2.xml": _part("hdr", paragraph("Northwind")),
        "header3.xml": _part("hdr", paragraph("12")),
        "comments.xml": _part("comments", paragraph("A remark")),
    }

    extracted = read(docx(body, parts))

    assert [block.text for block in extracted.blocks] == ["Text", "The note.", "After", "Northwind", "Page 1 of 2"]
    assert extracted.notes == ("Comments were left out.",)


def test_a_table_is_a_block_with_its_header_and_lists_are_blocks() -> None:
    item = '<w:numPr><w:ilvl w:val="0"/></w:numPr>'
    body = (
        table(["size", "price"], ["S", "10"], ["M", "20"])
        + paragraph("one", properties=item)
        + paragraph("two", properties=item)
        + paragraph("After")
    )

    assert read(docx(body)).blocks == (
        Block("size | price\nS | 10\nM | 20", header="size | price"),
        Block("- one\n- two"),
        Block("After"),
    )


def test_a_table_within_a_table_and_a_table_that_lays_out_a_page() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{table(['a', 'b'])}{paragraph('c')}</w:tc></w:tr></w:tbl>"

    assert texts(docx(inner)) == ["a | b c"]
    assert texts(docx(table(["long " * 120, "x"]))) == [("long " * 120).strip(), "x"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chunk.html", b"<h1>Included</h1><script>no</script>"),
        ("chunk.txt", b"Included"),
        ("chunk.docx", docx(paragraph("Included"))),
    ],
)
def test_an_included_document_is_read_in_its_place(name: str, content: bytes) -> None:
    body = paragraph("Before") + f'<w:altChunk r:id="{name}"/>' + paragraph("After")

    assert texts(docx(body, {name: content}, kinds="aFChunk")) == ["Before", "Included", "After"]


def test_an_included_document_of_another_format_is_noted() -> None:
    extracted = read(docx(paragraph("Text") + '<w:altChunk r:id="a.rtf"/>', {"a.rtf": "{\\rtf1 x}"}, kinds="aFChunk"))

    assert extracted.notes == ("An included document of type rtf was left out.",)


def test_documents_within_documents_end_somewhere() -> None:
    body = docx(paragraph("Innermost"))
    for _ in range(6):
        body = docx('<w:altChunk r:id="a.docx"/>', {"a.docx": body}, kinds="aFChunk")

    assert refused(body) is Reason.TOO_COMPLEX


def test_a_damaged_part_gives_what_can_be_read_of_it() -> None:
    extracted = read(docx(paragraph("Whole") + "<w:p><w:r><w:t>cut off</w:x>"))

    assert extracted.blocks[0].text == "Whole"
    assert extracted.notes == ("The part word/document.xml is damaged; what could be read of it was taken.",)


def test_the_main_part_may_have_another_name() -> None:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    relation = f'<Relationship Id="x" Type="{kind}" Target="/word/document2.xml"/>'
    body = archive(
        {
            "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f"{relation}</Relationships>",
            "word/document2.xml": _part("document", f"<w:body>{paragraph('Text')}</w:body>"),
        }
    )

    assert texts(body) == ["Text"]


def test_entities_are_not_expanded_and_files_not_read() -> None:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    document = (
        f'<!DOCTYPE d [<!ENTITY l0 "lol">{lol}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>a &l11; &x; b</w:t></w:r></w:p></w:body></w:document>'
    )

    extracted = read(archive({"word/document.xml": document}))

    assert "lollol" not in extracted.blocks[0].text
    assert "root:" not in extracted.blocks[0].text


def test_an_archive_that_inflates_beyond_the_bound_is_too_complex() -> None:
    body = docx(paragraph("a") + paragraph(" " * 3_000_000))

    assert len(body) < 10_000
    assert refused(body, Limits(inflated_bytes=1_000_000)) is Reason.TOO_COMPLEX


def test_inflating_stops_at_the_bound() -> None:
    body = bytearray(docx(paragraph("x" * 3_000_000)))
    start = body.rindex(b"word/document.xml") - 46  # its entry in the central directory (APPNOTE 4.3.12)
    body[start + 16 : start + 20] = b"\0\0\0\0"  # a wrong checksum: whoever reads to the end finds damage

    assert refused(bytes(body), Limits(inflated_bytes=1_000_000)) is Reason.TOO_COMPLEX
    assert refused(bytes(body)) is Reason.CORRUPT


def test_an_archive_of_too_many_parts_is_too_complex() -> None:
    parts = {f"x{number}.bin": b"" for number in range(20)}

    assert refused(docx(paragraph("a"), parts), Limits(archive_entries=10)) is Reason.TOO_COMPLEX


def test_deeply_nested_elements_break_no_stack() -> None:
    body = docx("<w:p>" * 5_000 + "<w:r><w:t>x</w:t></w:r>" + "</w:p>" * 5_000)

    assert refused(body) in {Reason.CORRUPT, Reason.EMPTY}


def test_passwords_show_in_two_ways() -> None:
    assert refused(_OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le")) is Reason.ENCRYPTED
    body = bytearray(docx(paragraph("x")))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := body.find(mark, at + 1)) >= 0:
            body[at + flags] |= 1
    assert refused(bytes(body)) is Reason.ENCRYPTED


@pytest.mark.parametrize("cut", [100, 500])
def test_a_truncated_archive_is_corrupt(cut: int) -> None:
    assert refused(docx(paragraph("Text"))[:-cut]) is Reason.CORRUPT
