import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botforge.domain.chunk import Block, Chunk, ExtractedText
from botforge.domain.chunking import MAX_CHARACTERS, chunk_blocks
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_TOKEN = re.compile(r"[一-鿿]|\w{1,6}|[^\w\s]")


def spans(text: str) -> list[tuple[int, int]]:
    """Like a word-piece tokenizer: words in parts, ideographs and punctuation one by one."""
    return [match.span() for match in _TOKEN.finditer(text)]


def tokens(text: str) -> int:
    return len(spans(text))


def texts(*paragraphs: str, headings: tuple[str, ...] = ()) -> ExtractedText:
    return ExtractedText(None, tuple(Block(paragraph, headings) for paragraph in paragraphs))


def squeezed(parts: Sequence[str]) -> str:
    return "".join("".join(part.split()) for part in parts)


_property = settings(deadline=None, max_examples=60)  # a slow machine is no failure
_words = st.text(alphabet="abcdefghij äß语言.?!,\n\t", max_size=120)
_letters = st.text(alphabet="abc语ไท", min_size=1, max_size=400)  # no white space at all
_headings = st.sampled_from([(), ("Terms",), ("Terms", "Refunds"), ("Terms", "Delivery"), ("Contact",)])
_prose = st.builds(Block, st.one_of(_words, _letters), _headings, st.one_of(st.none(), st.integers(1, 9)))
_heading_blocks = st.sampled_from([("Terms",), ("Terms", "Refunds"), ("Contact",)]).map(
    lambda path: Block(path[-1], path)
)
_tables = st.lists(_words.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=8).map(
    lambda rows: Block("\n".join(["size | price", *rows]), ("Prices",), header="size | price")
)
_documents = st.builds(
    ExtractedText,
    st.one_of(st.none(), st.text(alphabet="ab c", max_size=200)),
    st.lists(st.one_of(_prose, _heading_blocks, _tables), max_size=12).map(tuple),
)


@_property
@given(_documents, st.integers(16, 90))
def test_without_overlap_the_passages_are_the_document_in_order(document: ExtractedText, max_tokens: int) -> None:
    prose = ExtractedText(document.title, tuple(Block(block.text, block.headings) for block in document.blocks))

    chunks = chunk_blocks(prose, spans, max_tokens=max_tokens, overlap_tokens=0)

    assert squeezed([chunk.text for chunk in chunks]) == squeezed([block.text for block in document.blocks])


@_property
@given(_documents, st.integers(16, 90), st.integers(0, 40))
def test_what_is_embedded_fits_the_window(document: ExtractedText, max_tokens: int, overlap: int) -> None:
    for chunk in chunk_blocks(document, spans, max_tokens=max_tokens, overlap_tokens=overlap):
        assert tokens(chunk.embedding_text) <= max_tokens
        assert chunk.text.strip()


@_property
@given(_documents, st.integers(16, 90), st.integers(0, 40))
def test_an_overlap_repeats_the_end_of_the_passage_before_and_loses_nothing(
    document: ExtractedText, max_tokens: int, overlap: int
) -> None:
    prose = ExtractedText(None, tuple(Block(block.text, ("One",)) for block in document.blocks))

    read = ""
    for chunk in chunk_blocks(prose, spans, max_tokens=max_tokens, overlap_tokens=overlap):
        text = squeezed([chunk.text])
        # Several overlaps can be possible where a text repeats itself: one of them continues the document.
        whole = squeezed([block.text for block in prose.blocks])
        repeats = [
            size for size in range(len(text)) if read.endswith(text[:size]) and whole.startswith(read + text[size:])
        ]
        assert repeats, (read, text)
        read += text[repeats[0] :]
    assert read == squeezed([block.text for block in prose.blocks])


@_property
@given(_documents)
def test_ordinals_count_and_equal_documents_give_equal_passages(document: ExtractedText) -> None:
    chunks = chunk_blocks(document, spans, max_tokens=40)

    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert chunks == chunk_blocks(document, spans, max_tokens=40)


def test_whole_sentences_are_packed() -> None:
    sentences = [f"Sentence number {number} says some thing." for number in range(20)]

    chunks = chunk_blocks(texts(" ".join(sentences)), spans, max_tokens=40, overlap_tokens=0)

    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.text.startswith("Sentence number")
        assert chunk.text.endswith("thing.")


def test_the_last_sentences_are_repeated_under_the_same_headings() -> None:
    document = texts(" ".join(f"Sentence {number} of it." for number in range(12)), headings=("Terms",))

    first, second, *_ = chunk_blocks(document, spans, max_tokens=24, overlap_tokens=6)

    assert first.text.endswith(second.text.split(". ", 1)[0] + ".")


def test_nothing_is_repeated_under_other_headings() -> None:
    long = " ".join(f"word{number}" for number in range(40)) + "."
    document = ExtractedText(None, (Block(long, ("One",)), Block(long, ("Two",))))

    chunks = chunk_blocks(document, spans, max_tokens=90, overlap_tokens=20)

    assert [(chunk.headings, chunk.text) for chunk in chunks] == [(("One",), long), (("Two",), long)]


def test_a_heading_goes_with_what_follows_it() -> None:
    body = "Refunds are paid within fourteen days of the return."
    document = ExtractedText(
        None,
        (
            Block("Some short text.", ("Terms",)),
            Block("Refunds", ("Terms", "Refunds")),
            Block(body, ("Terms", "Refunds")),
        ),
    )

    for max_tokens in range(16, 40):
        chunks = chunk_blocks(document, spans, max_tokens=max_tokens, min_tokens=8)
        assert not any(chunk.text.endswith("Refunds") for chunk in chunks), max_tokens
        assert any("Refunds\n\nRefunds are" in chunk.text for chunk in chunks)


def test_a_heading_without_text_is_kept() -> None:
    document = ExtractedText(None, (Block("Alone", ("Alone",)),))

    assert [chunk.text for chunk in chunk_blocks(document, spans)] == ["Alone"]


def test_small_sections_share_a_passage_under_what_they_have_in_common() -> None:
    document = ExtractedText(
        "Shop",
        (
            Block("Mon", ("Hours", "Mon")),
            Block("9 to 5.", ("Hours", "Mon")),
            Block("Tue", ("Hours", "Tue")),
            Block("9 to 6.", ("Hours", "Tue")),
        ),
    )

    (chunk,) = chunk_blocks(document, spans)

    assert chunk.headings == ("Hours",)
    assert chunk.text == "Mon\n\n9 to 5.\n\nTue\n\n9 to 6."


def test_a_table_is_cut_between_rows_and_repeats_its_header() -> None:
    rows = [f"{size} | {size * 10} EUR" for size in range(30)]
    table = Block("\n".join(["size | price", *rows]), ("Prices",), header="size | price")

    chunks = chunk_blocks(ExtractedText(None, (table,)), spans, max_tokens=40)

    assert len(chunks) > 3
    assert all(chunk.text.startswith("size | price\n") for chunk in chunks)
    assert [line for chunk in chunks for line in chunk.text.split("\n")[1:]] == rows


def test_text_without_white_space_is_cut_at_tokens() -> None:
    text = "语" * 1000

    chunks = chunk_blocks(texts(text), spans, max_tokens=100, overlap_tokens=0)

    assert [len(chunk.text) for chunk in chunks] == [100] * 10


def test_ideographic_sentences_are_kept_whole() -> None:
    text = "这是第一句话。" * 30

    chunks = chunk_blocks(texts(text), spans, max_tokens=50, overlap_tokens=0)

    assert all(chunk.text.endswith("。") and chunk.text.startswith("这") for chunk in chunks)


def test_a_word_that_is_one_token_to_the_model_is_still_cut() -> None:
    def one_token(text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S+", text)]

    chunks = chunk_blocks(texts("x" * 100_000), one_token)

    assert max(len(chunk.text) for chunk in chunks) <= MAX_CHARACTERS
    assert "".join(chunk.text for chunk in chunks) == "x" * 100_000


def test_the_parts_of_a_word_have_tokens_of_their_own() -> None:
    def word_pieces(text: str) -> list[tuple[int, int]]:  # a word of more than 100 letters is an unknown one
        words = [match.span() for match in re.finditer(r"\S+", text)]
        return [
            (at, min(at + 2, end)) if end - start <= 100 else (start, end)
            for start, end in words
            for at in (range(start, end, 2) if end - start <= 100 else [start])
        ]

    for length in range(MAX_CHARACTERS, MAX_CHARACTERS + 120, 7):
        chunks = chunk_blocks(texts("x" * length), word_pieces, max_tokens=20, overlap_tokens=0)

        assert "".join(chunk.text for chunk in chunks) == "x" * length
        assert all(len(word_pieces(chunk.embedding_text)) <= 20 for chunk in chunks)


def test_a_passage_has_the_page_where_it_begins() -> None:
    long = "word " * 30
    document = ExtractedText(None, (Block("One page.", page=4), Block(long, page=5), Block(long, page=6)))

    chunks = chunk_blocks(document, spans, max_tokens=40, overlap_tokens=0)

    assert [chunk.page for chunk in chunks] == [4, 6]


def test_a_long_title_and_many_headings_leave_room_for_the_text() -> None:
    document = ExtractedText("title " * 90, (Block("Some text.", tuple(f"Heading {level} x" for level in range(30))),))

    (chunk,) = chunk_blocks(document, spans, max_tokens=60)

    assert tokens(chunk.embedding_text) <= 30
    assert chunk.headings == ("Heading 29 x",)


def test_too_many_passages_are_too_complex() -> None:
    document = texts(*["A sentence of its own, and long enough."] * 50)

    with pytest.raises(DocumentFailed) as caught:
        chunk_blocks(document, spans, max_tokens=16, max_chunks=10)

    assert caught.value.reason is Reason.TOO_COMPLEX


def test_a_document_without_text_has_no_passages() -> None:
    assert chunk_blocks(ExtractedText("Title", (Block(" \n"), Block(""))), spans) == []


def test_a_heading_that_begins_the_text_is_embedded_once() -> None:
    chunk = Chunk(0, "Refunds\n\nWithin 14 days.", "Terms", ("Terms", "Refunds"))

    assert chunk.embedding_text == "Terms\nRefunds\n\nWithin 14 days."
