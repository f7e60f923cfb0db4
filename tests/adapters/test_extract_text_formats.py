"""Plain text, Markdown, CSV and JSON."""

import codecs

import pytest

from botforge.adapters.extract.by_format import extract
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_SENTENCES = {
    "de": "Die Gewährleistung beträgt zwei Jahre. Für Schäden durch unsachgemäße Nutzung haften wir nicht.",
    "fr": "Élève modèle, où êtes-vous né ? Ça coûte dix euros à l’hôtel, paraît-il.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "he": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
}
_LEGACY = [
    *(("de", "cp1252"), ("de", "latin-1"), ("fr", "cp1252"), ("ru", "koi8-r"), ("ru", "cp1251"), ("el", "cp1253")),
    *(
        ("he", "cp1255"),
        ("ja", "shift_jis"),
        ("ja", "euc_jp"),
        ("ja", "iso2022_jp"),
        ("zh", "gb18030"),
        ("ko", "euc_kr"),
    ),
]
_UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


def read(body: bytes, filename: str = "note.txt", content_type: str = "") -> ExtractedText:
    return extract(body, filename=filename, content_type=content_type)


def texts(extracted: ExtractedText) -> list[str]:
    return [block.text for block in extracted.blocks]


def refused(body: bytes, filename: str) -> Reason:
    with pytest.raises(DocumentFailed) as caught:
        read(body, filename)
    return caught.value.reason


@pytest.mark.parametrize(("language", "encoding"), _LEGACY)
def test_legacy_encodings_are_recognised(language: str, encoding: str) -> None:
    sentence = _SENTENCES[language]

    assert texts(read(sentence.encode(encoding))) == [sentence]


@pytest.mark.parametrize("encoding", _UNICODE)
@pytest.mark.parametrize("language", list(_SENTENCES))
def test_unicode_with_its_mark_is_read_as_marked(language: str, encoding: str) -> None:
    sentence = _SENTENCES[language]

    assert texts(read(sentence.encode(encoding))) == [sentence]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", list(_SENTENCES))
def test_unicode_without_its_mark_is_recognised(language: str, encoding: str) -> None:
    text = f"{_SENTENCES[language]}\n\nArt. 1"

    assert texts(read(text.encode(encoding))) == [_SENTENCES[language], "Art. 1"]


def test_a_declared_charset_is_used_where_the_text_is_not_utf_8() -> None:
    body = "Příliš žluťoučký kůň".encode("iso8859-2")

    assert texts(read(body, content_type="text/plain; charset=iso-8859-2")) == ["Příliš žluťoučký kůň"]


def test_a_wrongly_declared_charset_does_not_spoil_utf_8() -> None:
    assert texts(read("Käse".encode(), content_type="text/plain; charset=latin-1")) == ["Käse"]


@pytest.mark.parametrize("charset", ["hex", "rot13", "no-such", "idna", "undefined"])
def test_a_charset_that_is_none_is_ignored(charset: str) -> None:
    assert texts(read(b"caf\xe9 au lait", content_type=f"text/plain; charset={charset}")) == ["café au lait"]


@pytest.mark.parametrize("filename", ["a.txt", "a.text", "a.log", "A.TXT"])
def test_paragraphs_are_what_blank_lines_separate(filename: str) -> None:
    assert texts(read(b"one\r\ntwo\r\n\r\n \r\nthree\r\rfour", filename)) == ["one\ntwo", "three", "four"]


def test_what_postgres_refuses_and_what_nobody_sees_is_removed() -> None:
    body = "a\0b \ud800c soft\u00adhyphen \u202eevil\u202c \ufeffx y\u200dz".encode("utf-8", "surrogatepass")

    (text,) = texts(read(b"x" * 200 + b" \x07" + body.replace(b"\xed\xa0\x80", b"") + b"\x01"))

    assert text.removeprefix("x" * 200) == " ab c softhyphen evil x y\u200dz"


def test_text_is_composed() -> None:
    assert texts(read(codecs.BOM_UTF8 + "Ka\u0308se".encode())) == ["K\u00e4se"]


def test_indentation_is_kept_and_gaps_are_not() -> None:
    assert texts(read(b"if x:\n    y  =   1   \n" + b" " * 90 + b"z")) == ["if x:\n    y = 1\n" + " " * 16 + "z"]


@pytest.mark.parametrize("body", [b"", b"  \r\n\t ", b"\0\0\0\0", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
@pytest.mark.parametrize("filename", ["a.txt", "a.md", "a.html", "a.csv", "a.json", "a.pdf", "a.docx"])
def test_nothing_is_empty_in_every_format(filename: str, body: bytes) -> None:
    assert refused(body, filename) is Reason.EMPTY


def test_markdown_keeps_its_headings() -> None:
    source = (
        b"# Shop\n\nIntro.\n\nTerms\n-----\n\n## Refunds *now*\n\nWithin `14` days.\n\n"
        b"# Contact\n\n[mail](mailto:x@y.z)\n"
    )

    extracted = read(source, "a.md")

    assert extracted.blocks == (
        Block("Shop", ("Shop",)),
        Block("Intro.", ("Shop",)),
        Block("Terms", ("Shop", "Terms")),
        Block("Refunds now", ("Shop", "Refunds now")),
        Block("Within 14 days.", ("Shop", "Refunds now")),
        Block("Contact", ("Contact",)),
        Block("mail", ("Contact",)),
    )


def test_markdown_front_matter_gives_the_title() -> None:
    extracted = read(b'---\ntitle: "Frequent questions"\nauthor: Mia\n---\n# Other\n\nText.\n', "a.markdown")

    assert extracted.title == "Frequent questions"
    assert texts(extracted) == ['title: "Frequent questions"\nauthor: Mia', "Other", "Text."]


def test_a_rule_at_the_top_of_markdown_is_no_front_matter() -> None:
    assert texts(read(b"---\n\nText.\n", "a.md")) == ["Text."]


def test_markdown_tables_lists_code_and_html_are_read() -> None:
    source = (
        b"| size | price |\n|---|---|\n| S | 10 |\n| M | 20 |\n\n1. one\n2. two\n   - deep\n\n"
        b"```py\nif x:\n    y()\n```\n\n<p>raw <b>html</b></p><script>alert(1)</script>\n"
    )

    extracted = read(source, "a.md")

    assert texts(extracted) == [
        "size | price\nS | 10\nM | 20",
        "1. one\n2. two\n- deep",
        "if x:\n    y()",
        "raw html",
    ]
    assert extracted.blocks[0].header == "size | price"


def test_csv_rows_stay_as_written_and_the_header_is_known() -> None:
    body = b'name;price\r\n"Bell; small";5\r\nLamp;12\r\n'

    (block,) = read(body, "a.csv").blocks

    assert block == Block('name;price\n"Bell; small";5\nLamp;12', header="name;price")


@pytest.mark.parametrize(
    ("filename", "body", "header"),
    [
        ("a.tsv", b"name\tprice\nLamp\t12\n", "name price"),
        ("a.csv", b"name|price\nLamp|12\n", "name|price"),
        ("a.csv", b"2024,12\n2025,13\n", ""),
        ("a.csv", b"just a list\nof lines\n", ""),
        ("a.csv", b"Team,Location\n", ""),
        ("a.csv", b"1,2,3,4\na,'b',c,d\na,b,c\n", ""),
        ("a.csv", codecs.BOM_UTF16_BE + "Team,Goals\nLeafs,13\n".encode("utf-16-be"), "Team,Goals"),
    ],
)
def test_a_first_row_of_names_is_a_header(filename: str, body: bytes, header: str) -> None:
    (block,) = read(body, filename).blocks

    assert block.header == header


def test_json_values_say_where_they_stand() -> None:
    body = b'\xef\xbb\xbf{"shop": {"name": "N\\u00f8rd", "open": true, "rank": 1.10, "none": null, "tags": ["a", "b"]}}'

    assert texts(read(body, "a.json")) == ["shop.name: Nørd\nshop.open: true\nshop.rank: 1.10\nshop.tags: a, b"]


def test_each_record_of_a_json_array_is_a_block() -> None:
    body = b'{"faq": [{"q": "Why?", "a": "So."}, {"q": "How?", "a": "Thus."}], "by": "Mia"}'

    assert texts(read(body, "a.json")) == ["faq.q: Why?\nfaq.a: So.", "faq.q: How?\nfaq.a: Thus.", "by: Mia"]


@pytest.mark.parametrize("filename", ["a.jsonl", "a.ndjson", "a.json"])
def test_json_lines_are_records(filename: str) -> None:
    assert texts(read(b'{"a": 1}\n\n{"a": 2}\r\n"three"\n', filename)) == ["a: 1", "a: 2", "three"]


@pytest.mark.parametrize("body", [b'{"a": 1', b"{'a': 1}", b'{"a": 1} rest', b"plain text", b"[1, 2"])
def test_broken_json_is_corrupt(body: bytes) -> None:
    assert refused(body, "a.json") is Reason.CORRUPT


def test_lone_surrogates_and_nul_in_json_strings_are_removed() -> None:
    assert texts(read(b'{"a": "x\\ud800y\\u0000z"}', "a.json")) == ["a: xyz"]


@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_json_is_too_complex(depth: int) -> None:
    assert refused(b"[" * depth + b"1" + b"]" * depth, "a.json") is Reason.TOO_COMPLEX


def test_an_integer_longer_than_python_reads_is_kept_as_written() -> None:
    assert texts(read(b'{"n": ' + b"9" * 5000 + b"}", "a.json")) == ["n: " + "9" * 5000]
