"""JSON of others: read strictly, written in one spelling, and made fit to be stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.clipping import clipped, estimated_tokens
from botforge.domain.json_values import canonical, read_object, storable

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"text"', "null", '{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', '{"a": "\\u0000"}',
     '{"\\ud800": 1}', "[" * 100_000, '{"a":' * 80 + "1" + "}" * 80, '{"a": ' + "9" * 5_000 + "}"],
)  # fmt: skip
def test_what_is_no_storable_object_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$|digits"):
        read_object(text)


def test_an_object_is_read_as_it_is() -> None:
    assert read_object('{"a": [1, 2.5, null, "ä"], "b": {}}') == {"a": [1, 2.5, None, "ä"], "b": {}}


def test_equal_values_have_one_spelling() -> None:
    assert canonical({"b": 1.0, "a": [2, {"d": 1, "c": None}]}) == canonical({"a": [2.0, {"c": None, "d": 1}], "b": 1})
    assert canonical({"a": 1}) != canonical({"a": "1"})
    assert canonical({"a": True}) != canonical({"a": 1})


@given(ANY_JSON)
def test_whatever_a_server_answers_can_be_stored(value: object) -> None:
    stored = json.dumps(storable(value), allow_nan=False, ensure_ascii=False)

    assert stored.encode("utf-8")
    assert "\0" not in stored
    assert "\\u0000" not in stored


def test_what_is_nested_too_deeply_is_cut_off() -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]

    assert "null" in json.dumps(storable(deep))


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_a_text_is_cut_to_its_tokens_and_says_so(text: str, tokens: int) -> None:
    shown = clipped(text, tokens)

    if estimated_tokens(text) <= tokens:
        assert shown == text
    else:
        kept, _, notice = shown.rpartition("\n[cut: ")
        assert text.startswith(kept)
        assert estimated_tokens(kept) <= tokens
        assert notice == f"{len(kept)} of {len(text)} characters are shown]"
