"""What became of a server's tools since they were accepted: a changed definition waits until its owner has seen it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from botforge.domain.ids import BotId, ToolId, ToolServerId
from botforge.domain.tool import Tool, ToolDefinition, ToolStatus


def new_tool(
    server_id: ToolServerId, bot_id: BotId, definition: ToolDefinition, now: datetime, *, accepted: bool
) -> Tool:
    """A tool that is registered (``accepted``), or that a server has added since."""
    status = ToolStatus.ACTIVE if accepted else ToolStatus.NEEDS_REVIEW
    pending = None if accepted else definition
    return Tool(ToolId(uuid4()), server_id, bot_id, definition, status, pending, now, now)


def changed_tools(
    server_id: ToolServerId, bot_id: BotId, known: Sequence[Tool], found: Iterable[ToolDefinition], now: datetime
) -> list[Tool]:
    """The tools to save, where ``found`` is everything that the server lists now. Those that stay as they are are
    left out, and so what is saved twice is saved once."""
    by_name = {definition.name: definition for definition in found}
    changed = [
        after for before in known if (after := _reviewed(before, by_name.pop(before.definition.name, None))) != before
    ]
    return changed + [new_tool(server_id, bot_id, definition, now, accepted=False) for definition in by_name.values()]


def _reviewed(tool: Tool, found: ToolDefinition | None) -> Tool:
    if never_accepted(tool):
        return tool if found is None else _renewed(tool, found)
    if found is None:
        return tool if tool.status is ToolStatus.DISABLED else replace(tool, status=ToolStatus.WITHDRAWN, pending=None)
    if found.digest != tool.definition.digest:
        pending = tool.pending if tool.pending and tool.pending.digest == found.digest else found
        status = ToolStatus.DISABLED if tool.status is ToolStatus.DISABLED else ToolStatus.NEEDS_REVIEW
        return replace(tool, status=status, pending=pending)
    # The accepted definition is what the server says (again): only its owner's own word still holds it back.
    status = ToolStatus.DISABLED if tool.status is ToolStatus.DISABLED else ToolStatus.ACTIVE
    return replace(tool, status=status, pending=None)


def never_accepted(tool: Tool) -> bool:
    """A tool that the server has added and nobody has looked at: all there is of it is what waits for review."""
    return tool.pending is not None and tool.pending.digest == tool.definition.digest


def _renewed(tool: Tool, found: ToolDefinition) -> Tool:
    return tool if found.digest == tool.definition.digest else replace(tool, definition=found, pending=found)
