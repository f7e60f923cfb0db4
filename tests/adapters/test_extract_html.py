import pytest

from botforge.adapters.extract.by_format import extract
from botforge.domain.chunk import Block, ExtractedText


def read(markup: str | bytes, filename: str = "page.html", content_type: str = "text/html") -> ExtractedText:
    body = markup.encode() if isinstance(markup, str) else markup
    return extract(body, filename=filename, content_type=content_type)


def texts(markup: str | bytes) -> list[str]:
    return [block.text for block in read(markup).blocks]


@pytest.mark.parametrize("filename", ["a.html", "a.htm", "a.xhtml"])
def test_title_headings_and_paragraphs(filename: str) -> None:
    extracted = read(
        "<!doctype html><title> Our\n shop</title><h1>Shop</h1><p>Open <b>d</b>aily.<h2>Hours &amp; days</h2>9<br>to 5"
        "<h1>Contact</h1>&#x43;all.",
        filename,
    )

    assert extracted == ExtractedText(
        "Our shop",
        (
            Block("Shop", ("Shop",)),
            Block("Open daily.", ("Shop",)),
            Block("Hours & days", ("Shop", "Hours & days")),
            Block("9\nto 5", ("Shop", "Hours & days")),
            Block("Contact", ("Contact",)),
            Block("Call.", ("Contact",)),
        ),
    )


@pytest.mark.parametrize(
    "markup",
    [
        "<p>seen</p><script>var hidden='</p>'</script>",
        "<script lang=x>hidden</script language><p>seen</p>",
        "<style>p{content:'hidden'}</style>seen",
        "seen<template><p>hidden</p></template>",
        "seen<noscript>hidden</noscript>",
        "seen<!-- hidden --><!--[if IE]>hidden<![endif]-->",
        "<p hidden>hidden</p>seen",
        "<div style='color:red; DISPLAY : none'><p>hidden</p></div>seen",
        "<span style=visibility:hidden>hidden</span>seen",
        "seen<svg><text>hidden</text></svg>",
        "<?php hidden ?>seen",
        "seen<img src='data:image/png;base64,hidden'>",
        "<head><meta content=hidden><script>hidden</script></head>seen",
        "<a href='hidden'>seen</a>",
    ],
)
def test_only_what_a_reader_sees_is_text(markup: str) -> None:
    assert texts(markup) == ["seen"]


def test_alternative_texts_of_images_are_text() -> None:
    assert texts("<p>The <img alt='bell'> rings.</p>") == ["The bell rings."]


def test_a_list_is_one_block_with_a_line_for_each_item() -> None:
    assert texts("<ul><li>one<li><p>two</p><p>more</p><ol><li>a</li><li>b</li></ol></li></ul>after") == [
        "- one\n- two\nmore\n1. a\n2. b",
        "after",
    ]


def test_a_table_of_data_is_a_line_for_each_row_with_its_header() -> None:
    markup = (
        "<table><caption>Prices</caption><tr><th>size<th>price</tr>"
        "<tr><td><p>S</p></td><td>10\n EUR</td></tr><tr><td>M</td><td>20 EUR</td></tr></table>"
    )

    caption, table = read(markup).blocks

    assert caption.text == "Prices"
    assert table == Block("size | price\nS | 10 EUR\nM | 20 EUR", header="size | price")


def test_a_table_that_lays_out_a_page_is_read_as_the_page() -> None:
    markup = "<table><tr><td><h1>Shop</h1><p>Open.</p><td><table><tr><td>a<td>b</tr></table></td></tr></table>"

    assert texts(markup) == ["Shop", "Open.", "a | b"]


def test_text_astray_in_a_table_is_not_lost() -> None:
    assert " ".join(texts("<table>astray<tr><td>a</td><td>b</td></tr></table>")) == "astray a b"


def test_navigation_comes_after_the_text() -> None:
    markup = "<nav><ul><li>Home</li></ul></nav><h1>Shop</h1><p>Open.</p><div role=navigation>Next</div>"

    assert read(markup).blocks == (
        Block("Shop", ("Shop",)),
        Block("Open.", ("Shop",)),
        Block("- Home"),
        Block("Next"),
    )


def test_preformatted_text_keeps_its_lines() -> None:
    assert texts("<pre>\nif x:\n    y()\n</pre>") == ["if x:\n    y()"]


@pytest.mark.parametrize(
    ("markup", "content_type"),
    [
        ("<meta charset='windows-1251'><p>Цена</p>".encode("cp1251"), ""),
        ('<meta http-equiv=Content-Type content="text/html; charset=koi8-r"><p>Цена</p>'.encode("koi8-r"), ""),
        ('<?xml version="1.0" encoding="windows-1251"?><html><p>Цена</p></html>'.encode("cp1251"), ""),
        ("<p>Цена</p>".encode("koi8-r"), "text/html; charset=koi8-r"),
        ("<meta charset='windows-1251'><p>Цена</p>".encode("utf-16"), ""),
        ("<meta charset='utf-16'><p>Цена</p>".encode(), ""),
        ("<!doctype html><html><p>Цена и ещё</p></html>".encode("utf-16-le"), ""),
    ],
)
def test_the_encoding_is_found_where_html_declares_it(markup: bytes, content_type: str) -> None:
    (block,) = read(markup, content_type=content_type).blocks

    assert block.text.startswith("Цена")


def test_entities_from_a_dtd_are_not_expanded_and_files_not_read() -> None:
    markup = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyyy">]><p>a &x; &y; b</p>'

    assert "root:" not in "".join(texts(markup))


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td"])
def test_deep_nesting_loses_no_text_and_breaks_no_stack(tag: str) -> None:
    markup = f"<p>first</p>{f'<{tag}>' * 5_000}deep"

    assert "first" in texts(markup)[0]


def test_frames_and_forms_are_read() -> None:
    assert texts("<form><label>Name</label><select><option>Bell<option>Lamp</select></form>") == ["Name", "Bell\nLamp"]
    assert texts("<html><frameset><frame src=x><noframes>Text</noframes></frameset></html>") == ["Text"]
