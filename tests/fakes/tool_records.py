"""Tool servers, tools, definitions and executions with everything filled in, for tests that mind one part only."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from botforge.domain.bot import Bot
from botforge.domain.execution import Execution, ExecutionStatus
from botforge.domain.ids import BotId, ExecutionId, ToolId, ToolServerId, UserId
from botforge.domain.tool import (
    Dialect,
    ServerHealth,
    ServerStatus,
    Tool,
    ToolDefinition,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}


def a_bot(user: UserId | None = None) -> Bot:
    return Bot(BotId(uuid4()), user or UserId(uuid4()), "Bot", "", True, 5, 0.5, NOW, NOW)


def a_server(bot: Bot, name: str = "server", **fields: Any) -> ToolServer:  # noqa: ANN401 - fields of the dataclass
    server = ToolServer(
        id=ToolServerId(uuid4()),
        bot_id=bot.id,
        user_id=bot.user_id,
        name=name,
        endpoint_url="https://tools.example.com/mcp",
        description="Tools.",
        is_active=True,
        timeout_seconds=30,
        retry_attempts=3,
        protocol=ToolProtocol.AUTO,
        dialect=Dialect.REST,
        policies={},
        sealed_credential=None,
        credential_kind=None,
        health=ServerHealth(ServerStatus.HEALTHY, 1.5, 0, NOW, None),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(server, **fields)


def a_definition(name: str, description: str = "Does it.", **fields: Any) -> ToolDefinition:  # noqa: ANN401
    return replace(ToolDefinition(name, description, SCHEMA, digest=f"digest of {name} {description}"), **fields)


def a_tool(server: ToolServer, name: str = "tool", **fields: Any) -> Tool:  # noqa: ANN401 - fields of the dataclass
    tool = Tool(ToolId(uuid4()), server.id, server.bot_id, a_definition(name), ToolStatus.ACTIVE, None, NOW, NOW)
    return replace(tool, **fields)


def a_vector(*beginning: float) -> list[float]:
    """A unit vector when ``beginning`` is one."""
    return [*beginning, *[0.0] * (384 - len(beginning))]


def an_execution(server: ToolServer, minutes: float = 0, **fields: Any) -> Execution:  # noqa: ANN401
    execution = Execution(
        id=ExecutionId(uuid4()),
        user_id=server.user_id,
        bot_id=server.bot_id,
        server_id=server.id,
        server_name=server.name,
        query_id=uuid4(),
        tool_name="tool",
        input_parameters={"a": 1},
        output_result=None,
        execution_time_ms=None,
        status=ExecutionStatus.STARTED,
        attempts=0,
        error_code=None,
        error_message=None,
        timestamp=NOW + timedelta(minutes=minutes),
    )
    return replace(execution, **fields)
