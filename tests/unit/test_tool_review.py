"""What becomes of a tool when its server says something else about it."""

from dataclasses import replace

import pytest
from tests.fakes.tool_records import NOW, a_bot, a_definition, a_server, a_tool

from botforge.domain.tool import Tool, ToolDefinition, ToolStatus
from botforge.domain.tool_review import changed_tools, never_accepted
from botforge.domain.tool_text import parameters_text, tool_text, words

SERVER = a_server(a_bot())
OLD, NEW = a_definition("tool", "Old."), a_definition("tool", "New.")
TOOL = a_tool(SERVER, "tool", definition=OLD)


def after(tool: Tool, *found: ToolDefinition) -> list[tuple[str, ToolStatus, str, str | None]]:
    changed = changed_tools(SERVER.id, SERVER.bot_id, [tool], found, NOW)
    return [
        (
            each.definition.name,
            each.status,
            each.definition.description,
            each.pending.description if each.pending else None,
        )
        for each in changed
    ]


def test_a_tool_that_is_as_it_was_accepted_stays_as_it_is() -> None:
    assert after(TOOL, OLD) == []


def test_a_changed_definition_waits_and_the_accepted_one_is_kept() -> None:
    assert after(TOOL, NEW) == [("tool", ToolStatus.NEEDS_REVIEW, "Old.", "New.")]


def test_a_change_that_is_taken_back_needs_no_review() -> None:
    waiting = replace(TOOL, status=ToolStatus.NEEDS_REVIEW, pending=NEW)
    assert after(waiting, NEW) == []
    assert after(waiting, OLD) == [("tool", ToolStatus.ACTIVE, "Old.", None)]


def test_a_second_change_replaces_the_one_that_waits() -> None:
    waiting = replace(TOOL, status=ToolStatus.NEEDS_REVIEW, pending=NEW)
    assert after(waiting, a_definition("tool", "Newer.")) == [("tool", ToolStatus.NEEDS_REVIEW, "Old.", "Newer.")]


def test_a_tool_that_is_gone_is_withdrawn_and_comes_back_only_as_it_was_accepted() -> None:
    withdrawn = replace(TOOL, status=ToolStatus.WITHDRAWN)
    assert after(TOOL) == [("tool", ToolStatus.WITHDRAWN, "Old.", None)]
    assert after(withdrawn) == []
    assert after(withdrawn, OLD) == [("tool", ToolStatus.ACTIVE, "Old.", None)]
    assert after(withdrawn, NEW) == [("tool", ToolStatus.NEEDS_REVIEW, "Old.", "New.")]


def test_a_tool_that_its_owner_disabled_stays_disabled_whatever_the_server_does() -> None:
    disabled = replace(TOOL, status=ToolStatus.DISABLED)
    assert after(disabled) == after(disabled, OLD) == []
    assert after(disabled, NEW) == [("tool", ToolStatus.DISABLED, "Old.", "New.")]


def test_a_tool_that_the_server_adds_is_never_active_before_it_was_accepted() -> None:
    (new,) = changed_tools(SERVER.id, SERVER.bot_id, [], [NEW], NOW)
    assert (new.status, new.pending) == (ToolStatus.NEEDS_REVIEW, NEW)
    assert never_accepted(new)
    for found in ([], [NEW]):
        assert changed_tools(SERVER.id, SERVER.bot_id, [new], found, NOW) == []
    (changed,) = changed_tools(SERVER.id, SERVER.bot_id, [new], [OLD], NOW)
    assert (changed.id, changed.status, changed.definition, changed.pending) == (
        new.id,
        ToolStatus.NEEDS_REVIEW,
        OLD,
        OLD,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("getUserById", "get user by id"),
        ("file_system.list-all", "file system list all"),
        ("HTTPServerError", "HTTP server error"),
        ("convert2PDF", "convert2 PDF"),
        ("calculator", "calculator"),
        ("天気", "天気"),
        ("__", "__"),
    ],
)
def test_a_name_is_read_as_words(name: str, expected: str) -> None:
    assert words(name) == expected


def test_a_tools_text_holds_name_description_and_parameters_and_is_bounded() -> None:
    schema = {"type": "object", "properties": {"fromUnit": {"description": "long"}, "to_unit": {}}}
    assert tool_text(a_definition("convert", " Converts. ", input_schema=schema)) == (
        "convert: Converts. from unit, to unit"
    )
    assert len(tool_text(a_definition("convert", "x" * 100_000))) < 2_000
    assert tool_text(a_definition("convert", "", input_schema={"type": "object", "properties": "odd"})) == "convert:"


def test_a_tools_second_text_says_what_its_parameters_are() -> None:
    schema = {
        "type": "object",
        "properties": {"fromUnit": {"description": " Such as km. "}, "to_unit": {}, "x": {"description": 7}, "y": True},
    }
    assert parameters_text(a_definition("convert", "Converts.", input_schema=schema)) == (
        "convert: Converts. from unit: Such as km."
    )
    assert parameters_text(a_definition("convert", "Converts.", input_schema={"type": "object"})) is None
    many = {"type": "object", "properties": {f"p{number}": {"description": "x" * 8_000} for number in range(50)}}
    assert len(parameters_text(a_definition("convert", "Converts.", input_schema=many)) or "") <= 4_000
