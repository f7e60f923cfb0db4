"""Arguments from a message without a model: word for word, and what is missing is said."""

from typing import Any

import pytest

from botforge.domain.argument_filling import fill

UNIT = {"type": "string", "enum": ["kilometer", "mile", "meter"]}


def schema(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON Schema
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("properties", "text", "arguments"),
    [
        ({"expression": {"type": "string"}}, "Calculate 25 * 17 + 100", {"expression": "25 * 17 + 100"}),
        ({"expression": {"type": "string"}}, "What is (2 + 3) * -4?", {"expression": "(2 + 3) * -4"}),
        ({"a": {"type": "number"}, "b": {"type": "number"}}, "Add 2.5 and -3", {"a": 2.5, "b": -3}),
        ({"amount": {"type": "number"}}, "Pay $1,234.50 to Ann", {"amount": 1234.5}),
        ({"count": {"type": "integer"}}, "In 2.5 hours, buy 7", {"count": 7}),
        (
            {"value": {"type": "number"}, "from_unit": UNIT, "to_unit": UNIT},
            "Convert 5 miles to Kilometers",
            {"value": 5, "from_unit": "mile", "to_unit": "kilometer"},
        ),
        (
            {"text": {"type": "string"}, "case": {"enum": ["upper", "lower"]}},
            "Put “good morning” in upper case",
            {"text": "good morning", "case": "upper"},
        ),
        ({"text": {"type": "string"}}, "Translate: guten Morgen", {"text": "guten Morgen"}),
        ({"version": {"const": 2}}, "Anything", {"version": 2}),
    ],
)
def test_what_a_message_says_word_for_word_is_filled_in(
    properties: dict[str, Any], text: str, arguments: dict[str, Any]
) -> None:
    filled = fill(schema(**properties), text)

    assert (filled.arguments, filled.missing) == (arguments, ())


@pytest.mark.parametrize(
    "kind", [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "array"}, {"enum": ["x"]}, {}, True]
)
def test_what_the_message_does_not_say_is_missing_and_never_guessed(kind: object) -> None:
    filled = fill(schema(wanted=kind), "Do it, please")

    assert (filled.arguments, filled.missing) == ({}, ("wanted",))


def test_each_number_and_quotation_serves_once() -> None:
    filled = fill(schema(a={"type": "number"}, b={"type": "number"}), "Add 2")

    assert (filled.arguments, filled.missing) == ({"a": 2}, ("b",))


def test_what_is_not_required_is_taken_only_where_there_is_a_choice_to_read() -> None:
    optional = {"type": "object", "properties": {"n": {"type": "number"}, "case": {"enum": ["upper", "lower"]}}}

    assert fill(optional, "7 in lower case").arguments == {"case": "lower"}
