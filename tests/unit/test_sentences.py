"""Where sentences end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.sentences import sentence_spans, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith paid 3.50 to Mr. Jones. He left.", ["Dr. Smith paid 3.50 to Mr. Jones.", "He left."]),
        ("J. R. R. Tolkien wrote. We read.", ["J. R. R. Tolkien wrote.", "We read."]),
        ('She said "Stop." Then left.', ['She said "Stop."', "Then left."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("A line\n\nAnother paragraph", ["A line", "Another paragraph"]),
        ("e.g. this one, i.e. the first. Done.", ["e.g. this one, i.e. the first.", "Done."]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
    ],
)
def test_sentences_end_where_a_reader_would_say_so(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text(alphabet='aB1 .!?\n。")', max_size=120))
def test_nothing_but_white_space_lies_between_sentences(text: str) -> None:
    spans = sentence_spans(text)
    rest = list(text)
    for start, end in spans:
        rest[start:end] = " " * (end - start)
    assert "".join(rest).strip() == ""
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
