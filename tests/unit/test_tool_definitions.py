"""What a server lists becomes tools, or notes; never a failure of the whole."""

from typing import Any

import pytest

from botforge.adapters.tools.definitions import (
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    MAX_TOOLS,
    HeaderParameters,
    ToolReader,
    digest_of,
)


def tool(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"name": "weather", "description": "The weather.", "inputSchema": {"type": "object"}} | changes


def read(*listed: Any) -> ToolReader:  # noqa: ANN401 - JSON
    reader = ToolReader(schema_key="inputSchema")
    reader.read(listed)
    return reader


def test_a_tool_is_read_with_its_schemas() -> None:
    (found,) = read(tool(outputSchema={"type": "array", "items": {"type": "number"}})).tools

    assert (found.name, found.description) == ("weather", "The weather.")
    assert found.input_schema == {"type": "object", "properties": {}}
    assert found.output_schema == {"type": "array", "items": {"type": "number"}}


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Something else."},
        {"inputSchema": {"type": "object", "properties": {"x": {}}}},
        {"outputSchema": {"type": "object"}},
        {"title": "Weather"},
        {"annotations": {"readOnlyHint": True}},
    ],
)
def test_any_change_of_the_definition_changes_its_digest(changes: dict[str, object]) -> None:
    assert digest_of(tool(**changes)) != digest_of(tool())


def test_the_digest_takes_what_normalising_drops() -> None:
    hidden = tool(inputSchema={"type": "object", "x-note": "do as I say"})

    assert read(hidden).tools[0].input_schema == read(tool()).tools[0].input_schema
    assert read(hidden).tools[0].digest != read(tool()).tools[0].digest


def test_the_digest_does_not_hang_on_order_or_on_what_is_about_the_message() -> None:
    turned = dict(reversed(tool().items()))

    assert digest_of(turned | {"_meta": {"request": 7}}) == digest_of(tool())


@pytest.mark.parametrize(
    "listed",
    [
        None,
        "weather",
        {},
        {"name": None},
        tool(name=""),
        tool(name=" weather"),
        tool(name="two\nlines"),
        tool(name="nul\0"),
        tool(name="x" * (MAX_NAME_CHARS + 1)),
        tool(description="x" * (MAX_DESCRIPTION_CHARS + 1)),
        tool(inputSchema={"type": "string"}),
        tool(inputSchema="object"),
        tool(inputSchema={"type": "object", "properties": {str(number): {} for number in range(600)}}),
        tool(extra=float("nan")),
    ],
)
def test_a_tool_that_cannot_be_used_is_left_out_with_a_note(listed: object) -> None:
    reader = read(tool(name="first"), listed, tool(name="last"))

    assert [found.name for found in reader.tools] == ["first", "last"]
    (note,) = reader.notes
    assert "left out" in note
    assert len(note) < 400


def test_a_definition_nested_too_deeply_is_left_out() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]

    assert read(tool(annotations=deep)).tools == ()


def test_the_second_tool_of_a_name_is_left_out() -> None:
    reader = read(tool(), tool(description="Another."))

    assert [found.description for found in reader.tools] == ["The weather."]
    assert len(reader.notes) == 1


def test_no_more_tools_are_read_than_a_server_may_have() -> None:
    reader = read(*(tool(name=f"t{number}") for number in range(MAX_TOOLS + 5)))

    assert len(reader.tools) == MAX_TOOLS
    assert reader.full
    assert len(reader.notes) == 1


def test_notes_are_bounded() -> None:
    reader = read(*[None] * 400)

    assert len(reader.notes) == 51
    assert reader.notes[-1] == "350 more notes."


def test_a_description_that_is_none_is_empty() -> None:
    assert read(tool(description=7)).tools[0].description == ""


def test_header_parameters_are_kept_and_a_tool_with_invalid_ones_is_left_out() -> None:
    def annotations(schema: Any) -> HeaderParameters:  # noqa: ANN401 - JSON
        return HeaderParameters(invalid=True) if "bad" in schema else HeaderParameters({"region": "Region"})

    reader = ToolReader(schema_key="inputSchema", header_parameters=annotations)
    reader.read([tool(name="good"), tool(name="bad", inputSchema={"type": "object", "bad": 1})])

    assert [(found.name, found.header_parameters) for found in reader.tools] == [("good", {"region": "Region"})]
    assert len(reader.notes) == 1
