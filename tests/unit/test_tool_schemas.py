"""Schemas of strangers become such that an LLM's API takes them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.adapters.tools.json_values import NotJson, canonical, parse, storable
from botforge.adapters.tools.schemas import (
    MAX_DEPTH,
    MAX_PROPERTIES,
    MAX_SCHEMA_BYTES,
    SchemaRefused,
    normalised,
    normalised_part,
)

TEXT = {"type": "string"}


def test_a_plain_schema_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where.", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
            "units": {"enum": ["metric", "imperial"]},
            "tags": {"type": "array", "items": TEXT, "uniqueItems": True},
        },
        "required": ["city"],
        "additionalProperties": False,
    }

    assert normalised(schema) == schema


def test_no_schema_means_no_parameters() -> None:
    assert normalised(None) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}}, {"type": ["object", "null"]}])
def test_the_root_says_that_it_is_an_object(schema: object) -> None:
    assert normalised(schema) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("schema", [[], "object", 1, True, {"type": "string"}, {"type": ["array", "null"]}])
def test_what_describes_no_object_is_refused(schema: object) -> None:
    with pytest.raises(SchemaRefused):
        normalised(schema)


def test_local_references_are_written_out() -> None:
    schema = {
        "$defs": {"place": {"type": "object", "properties": {"city": {"$ref": "#/$defs/city"}}}, "city": TEXT},
        "type": "object",
        "properties": {
            "from": {"$ref": "#/$defs/place", "description": "Where it begins."},
            "to": {"$ref": "#/properties/from"},
        },
    }

    written = normalised(schema)

    place = {"type": "object", "description": "Where it begins.", "properties": {"city": TEXT}}
    assert written["properties"] == {"from": place, "to": place}
    assert "$" not in json.dumps(written)


def test_a_pointer_may_have_escapes_and_go_through_lists() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y~0z%20w"}, "b": {"$ref": "#/$defs/many/anyOf/1"}},
        "$defs": {"x/y~z w": TEXT, "many": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
    }

    assert normalised(schema)["properties"] == {"a": TEXT, "b": {"type": "integer"}}


@pytest.mark.parametrize(
    "reference",
    [
        "https://good.example/schema.json",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "other.json#/$defs/x",
        "#anchor",
        "#/nowhere",
        "#/properties/a/0",
        "#/properties/list/prefixItems/7",
        "#/properties/list/prefixItems/-1",
        "",
    ],
)
def test_what_a_reference_does_not_find_here_accepts_anything(reference: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": reference, "description": "A thing."}, "list": {"prefixItems": [TEXT]}},
    }

    assert normalised(schema)["properties"]["a"] == {"description": "A thing."}


def test_a_cycle_is_cut_where_it_closes() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}, "name": TEXT}}},
    }

    tree = normalised(schema)["properties"]["tree"]

    assert tree == {"type": "object", "properties": {"child": {}, "name": TEXT}}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"self": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_reference_to_itself_ends(schema: object) -> None:
    assert normalised(schema)["type"] == "object"


def test_references_that_double_at_each_step_are_refused() -> None:
    doubling = {f"d{step}": {"anyOf": [{"$ref": f"#/$defs/d{step + 1}"}] * 2} for step in range(30)}

    with pytest.raises(SchemaRefused, match="parts"):
        normalised({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": doubling})


def test_what_lies_too_deep_accepts_anything() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(MAX_DEPTH * 2):
        deep = {"type": "object", "properties": {"in": deep}}

    written: Any = normalised(deep)

    levels = 0
    while written:
        written = written.get("properties", {}).get("in")
        levels += 1
    assert levels == MAX_DEPTH + 1


def test_too_many_properties_are_refused() -> None:
    properties = {f"p{number}": TEXT for number in range(MAX_PROPERTIES)}

    normalised({"type": "object", "properties": properties})
    with pytest.raises(SchemaRefused, match="properties"):
        normalised({"type": "object", "properties": {"more": {"type": "object", "properties": properties}}})


def test_a_schema_that_is_too_large_is_refused() -> None:
    wordy = {f"p{number}": {"description": "x" * 1_000} for number in range(MAX_SCHEMA_BYTES // 1_000 + 1)}

    with pytest.raises(SchemaRefused, match="larger"):
        normalised({"type": "object", "properties": wordy})
    assert normalised_part({"type": "object", "properties": wordy}) is None


def test_combinators_within_are_kept_and_those_at_the_root_are_folded() -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"anyOf": [TEXT, {"type": "null"}]}},
        "allOf": [{"properties": {"a": TEXT}, "required": ["a"]}],
        "oneOf": [
            {"properties": {"b": TEXT}, "required": ["b", "c"]},
            {"properties": {"c": TEXT}, "required": ["c"]},
        ],
        "additionalProperties": False,
    }

    assert normalised(schema) == {
        "type": "object",
        "properties": {"who": {"anyOf": [TEXT, {"type": "null"}]}, "a": TEXT, "b": TEXT, "c": TEXT},
        "required": ["a", "c"],
    }


def test_invalid_keywords_are_dropped_not_passed_on() -> None:
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "x",
        "x-vendor": 1,
        "type": "object",
        "required": "city",
        "properties": {
            "a": {"type": "text", "minimum": "1", "maxLength": True, "enum": [], "anyOf": [], "title": 7},
            "b": "not a schema",
            "c": {"type": ["string", "text"], "required": [1, "x", "x"], "format": ["date"]},
            "d": False,
            "e": {"items": [TEXT, TEXT]},
        },
    }

    assert normalised(schema) == {
        "type": "object",
        "properties": {
            "a": {},
            "b": {},
            "c": {"type": ["string"], "required": ["x"]},
            "d": {"not": {}},
            "e": {"prefixItems": [TEXT, TEXT]},
        },
    }


def test_a_pattern_becomes_words_and_is_never_run() -> None:
    schema = {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The code.", "pattern": "^[A-Z]{3}$"},
            "evil": {"type": "string", "pattern": "(a+)+$" * 100},
        },
        "patternProperties": {"^x-": TEXT},
        "additionalProperties": False,
    }

    assert normalised(schema) == {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The code. (pattern: ^[A-Z]{3}$)"},
            "evil": {"type": "string"},
        },
    }


def test_long_words_are_shortened_and_large_data_dropped() -> None:
    written = normalised(
        {
            "type": "object",
            "properties": {"a": {"description": "x" * 5_000, "default": "y" * 9_000, "enum": ["z" * 9_000]}},
        }
    )

    assert written["properties"]["a"] == {"description": "x" * 1_023 + "…"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "allOf", "$ref", "required", "enum", "description", "not", "x"]
            )
            | st.text(max_size=3),
            inner | st.sampled_from(["object", "string", "#", "#/properties/x", "#/anyOf/0"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_JSON)
def test_any_json_gives_an_object_schema_or_is_refused(value: object) -> None:
    try:
        written = normalised(value)
    except SchemaRefused:
        return
    assert written["type"] == "object"
    assert isinstance(written["properties"], dict)
    assert not {"$ref", "anyOf", "oneOf", "allOf", "not", "enum"} & written.keys()
    json.dumps(written)


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "", "{", "[1,]", "\ufeff1", "[" * 200 + "]" * 200]
)
def test_what_is_not_strict_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        parse(text)


@pytest.mark.parametrize("body", [b"[" * 1_000_000, b"1" * 10_000, b"\xff\xfe\x00", b"1" * 400 + b".0"])
def test_bodies_that_break_parsers_are_refused(body: bytes) -> None:
    with pytest.raises(NotJson):
        parse(body)


def test_what_postgres_cannot_hold_is_replaced() -> None:
    assert parse(r'{"a\u0000": ["\ud800", "ok", "\ud83d\ude00"]}') == {"a\ufffd": ["\ufffd", "ok", "😀"]}


def test_numbers_beyond_a_double_are_refused_however_they_came() -> None:
    for value in (float("inf"), float("nan"), 10**400):
        with pytest.raises(NotJson):
            storable({"x": value})


def test_the_canonical_form_forgets_the_order_of_members_only() -> None:
    assert canonical({"b": 1, "a": [1, 2]}) == canonical({"a": [1, 2], "b": 1})
    assert canonical({"a": [1, 2]}) != canonical({"a": [2, 1]})
