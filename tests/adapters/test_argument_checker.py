"""Arguments against a stranger's schema: what to mend is said in a sentence, and no schema keeps us busy."""

import time
from typing import Any

import pytest

from botforge.adapters.arguments.json_schema import JsonSchemaChecker
from botforge_dev.fakes.loopback import Request, Respond, serve

CHECKER = JsonSchemaChecker()


def schema(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON Schema
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_arguments_that_fit_leave_nothing_to_mend() -> None:
    assert CHECKER.problems(schema(a={"type": "number"}), {"a": 1}) == []
    assert CHECKER.problems({}, {"anything": [1]}) == []


def test_each_problem_names_its_place_and_what_was_expected() -> None:
    wanted = schema(a={"type": "number"}, b={"enum": ["x", "y"]}, c={"type": "array", "items": {"type": "integer"}})

    problems = CHECKER.problems(wanted, {"a": "two", "b": "z", "c": [1, "x"]})

    assert problems == [
        "a: 'two' is not of type 'number'",
        "b: 'z' is not one of ['x', 'y']",
        "c[1]: 'x' is not of type 'integer'",
    ]
    assert CHECKER.problems(wanted, {"a": 1, "c": []}) == ["arguments: 'b' is a required property"]


def test_problems_are_bounded_in_number_and_length() -> None:
    problems = CHECKER.problems(schema(a={"type": "array", "items": {"type": "null"}}), {"a": ["x" * 9_999] * 99})

    assert len(problems) == 10
    assert max(map(len, problems)) <= 300


def test_an_older_draft_is_checked_as_it_was_meant() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **schema(a={"type": "array", "items": [{"type": "integer"}]}),
    }

    assert CHECKER.problems(old, {"a": [1, "x"]}) == []
    assert CHECKER.problems(old, {"a": ["x"]}) != []


def test_a_reference_within_the_schema_is_followed() -> None:
    wanted = {**schema(a={"$ref": "#/$defs/whole"}), "$defs": {"whole": {"type": "integer"}}}

    assert CHECKER.problems(wanted, {"a": 1}) == []
    assert CHECKER.problems(wanted, {"a": 1.5}) != []


@pytest.mark.parametrize(
    "hostile",
    [
        schema(a={"$ref": "http://127.0.0.1:9/schema.json"}),
        schema(a={"$ref": "file:///etc/passwd"}),
        schema(a={"$ref": "#/$defs/missing"}),
        {"$ref": "#"},
        {"$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}, "$ref": "#/$defs/x"},
        {"type": "no such type"},
        {"properties": {"a": {"minLength": "long"}}},
        {"properties": {"a": {"multipleOf": 0}}, "minProperties": 9},
        {"properties": {"a": 7}},
        {"allOf": 7},
    ],
)
def test_a_schema_that_cannot_be_used_is_itself_a_problem_and_nothing_is_fetched(hostile: dict[str, Any]) -> None:
    assert CHECKER.problems(hostile, {"a": "text", "b": 1})


def test_a_reference_to_a_server_that_answers_is_not_fetched() -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Respond:
        asked.append(request)
        return Respond(200, {"type": "string"})

    with serve(answer) as url:
        assert CHECKER.problems(schema(a={"$ref": f"{url}/schema.json"}), {"a": "text"})
        assert CHECKER.problems({"$schema": f"{url}/draft.json", "type": "object"}, {"a": "text"}) == []

    assert asked == []


@pytest.mark.parametrize(
    "hostile",
    [
        schema(a={"pattern": "^(a+)+$"}),
        {"patternProperties": {"^(a+)+$": {"type": "null"}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        schema(a={"type": "string", "format": "regex"}),
        {
            "$defs": {
                **{
                    f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
                    for n in range(40)
                },
                "d40": {"type": "null"},
            },
            "$ref": "#/$defs/d0",
        },
    ],
)
def test_no_schema_keeps_us_busy(hostile: dict[str, Any]) -> None:
    began = time.monotonic()

    CHECKER.problems(hostile, {"a": "a" * 40 + "!", "a" * 40 + "!": 1})

    assert time.monotonic() - began < 20  # each would take longer than the universe is old


def test_many_items_that_cannot_be_sorted_are_not_compared_with_each_other() -> None:
    began = time.monotonic()

    CHECKER.problems(schema(a={"uniqueItems": True}), {"a": [{"n": number} for number in range(50_000)]})

    assert time.monotonic() - began < 20
    assert CHECKER.problems(schema(a={"uniqueItems": True}), {"a": [{"n": 1}, {"n": 1}]}) != []
