"""Registered tools, their servers, executions and credentials in memory, and a transport that does what it is told."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import mul
from typing import Any
from uuid import uuid4

from tests.fakes import tool_records

from botforge.domain.deadline import Deadline
from botforge.domain.errors import DatabaseUnavailable
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import BotId, ExecutionId, UserId
from botforge.domain.page import Page
from botforge.domain.tool import (
    Discovery,
    Effect,
    JsonObject,
    ServerTool,
    ToolPolicy,
    ToolProtocol,
    ToolResult,
    ToolServer,
)
from botforge.ports.embedding import Vector
from botforge.ports.tools import Endpoint, ToolCall

USER = UserId(uuid4())
BOT = BotId(uuid4())
NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}


def a_server(name: str = "Calculator", **fields: Any) -> ToolServer:  # noqa: ANN401 - fields of the server
    return tool_records.a_server(replace(tool_records.a_bot(USER), id=BOT), name, protocol=ToolProtocol.REST, **fields)


def a_tool(
    name: str = "add",
    *,
    server: ToolServer | None = None,
    effect: Effect = Effect.UNSAFE,
    ttl: int = 0,
    description: str = "Add two numbers.",
    schema: JsonObject = NUMBERS,
) -> ServerTool:
    server = server or a_server()
    server = replace(server, policies={**server.policies, name: ToolPolicy(effect, ttl)})
    definition = tool_records.a_definition(name, description, input_schema=schema)
    return ServerTool(server, tool_records.a_tool(server, definition=definition))


@dataclass(slots=True)
class InMemoryToolServers:
    """The part of ToolServers that reads: every tool given is callable."""

    tools: list[tuple[ServerTool, Vector]] = field(default_factory=list[tuple[ServerTool, Vector]])
    open_circuits: tuple[str, ...] = ()

    def nearest(
        self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int
    ) -> Sequence[tuple[ServerTool, float]]:
        found = self.nearest_to_any(user_id, bot_id, [vector], limit=limit)
        return sorted([(tool, cosine) for tool, (cosine,) in found], key=lambda pair: -pair[1])

    def nearest_to_any(
        self, user_id: UserId, bot_id: BotId, vectors: Sequence[Vector], *, limit: int
    ) -> Sequence[tuple[ServerTool, Sequence[float]]]:
        own = [pair for pair in self.tools if (pair[0].server.user_id, pair[0].server.bot_id) == (user_id, bot_id)]
        cosines = [[sum(map(mul, vector, known)) for vector in vectors] for _, known in own]
        best = {
            place
            for part in range(len(vectors))
            for place in sorted(range(len(own)), key=lambda place: -cosines[place][part])[:limit]
        }
        return [(own[place][0], cosines[place]) for place in sorted(best)]

    def callable_count(self, user_id: UserId, bot_id: BotId) -> int:
        return sum((tool.server.user_id, tool.server.bot_id) == (user_id, bot_id) for tool, _ in self.tools)

    def withheld(self, user_id: UserId, bot_id: BotId) -> Sequence[str]:
        return self.open_circuits if (user_id, bot_id) == (USER, BOT) else ()


@dataclass(slots=True)
class InMemoryExecutions:
    """``refuse``: the names of methods that find no database."""

    rows: dict[ExecutionId, Execution] = field(default_factory=dict[ExecutionId, Execution])
    refuse: set[str] = field(default_factory=set[str])
    log: list[str] = field(default_factory=list[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, execution: Execution) -> None:
        self._reach("start")
        with self._lock:
            assert execution.id not in self.rows
            self.rows[execution.id] = execution

    def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
        self._reach("finish")
        with self._lock:
            row = self.rows[execution_id]
            if row.user_id != user_id or row.status is not ExecutionStatus.STARTED:
                return False
            self.rows[execution_id] = replace(
                row,
                status=outcome.status,
                attempts=outcome.attempts,
                output_result=outcome.output_result,
                execution_time_ms=outcome.execution_time_ms,
                error_code=outcome.error_code,
                error_message=outcome.error_message,
            )
            return True

    def list(
        self,
        user_id: UserId,
        bot_id: BotId,
        *,
        status: ExecutionStatus | None,
        tool_name: str | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Execution]:
        assert cursor is None, "one page holds them all"
        found = [
            row
            for row in self.rows.values()
            if (row.user_id, row.bot_id) == (user_id, bot_id)
            and status in {None, row.status}
            and tool_name in {None, row.tool_name}
            and (since is None or row.timestamp >= since)
            and (until is None or row.timestamp < until)
        ]
        return Page(found[:limit], None)

    def only(self) -> Execution:
        (row,) = self.rows.values()
        return row

    def _reach(self, method: str) -> None:
        self.log.append(method)
        if method in self.refuse:
            raise DatabaseUnavailable("The database does not answer.")


Scripted = ToolResult | BaseException | Callable[[ToolCall], ToolResult]


@dataclass(slots=True)
class ScriptedTransport:
    """``script`` is used up first, one step a call; then every call succeeds."""

    script: list[Scripted] = field(default_factory=list[Scripted])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    deadlines: list[Deadline] = field(default_factory=list[Deadline])
    before: Callable[[], object] = lambda: None

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        raise NotImplementedError("nobody discovers here")

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        self.before()
        self.calls.append(call)
        self.endpoints.append(endpoint)
        self.deadlines.append(deadline)
        step: Scripted = self.script.pop(0) if self.script else result(f"{call.tool_name} did it")
        if isinstance(step, BaseException):
            raise step
        return step if isinstance(step, ToolResult) else step(call)


def result(text: str = "42", content: object = None, *, is_error: bool = False, truncated: bool = False) -> ToolResult:
    return ToolResult(text, text if content is None else content, is_error, truncated)


class NothingToMend:
    """An ArgumentChecker that is content with everything, or complains of what it is told to."""

    def __init__(self, problems: Mapping[str, Sequence[str]] | None = None) -> None:
        self._problems = problems or {}

    def problems(self, schema: JsonObject, arguments: JsonObject) -> Sequence[str]:
        del schema
        return [problem for name in arguments for problem in self._problems.get(name, ())]
