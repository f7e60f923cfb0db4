"""Hold conversations with tool calls through the real agent, LLM adapter, transport and argument check."""

import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from botforge.adapters.arguments.json_schema import JsonSchemaChecker
from botforge.adapters.clock import SystemClock
from botforge.adapters.llm.openai import OpenAIChatModel
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ExecutionId, ToolId, ToolServerId, UserId
from botforge.domain.query import Query
from botforge.domain.tool import (
    Dialect,
    ServerHealth,
    ServerTool,
    Tool,
    ToolDefinition,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.ports.embedding import Embedding
from botforge.services.agent import Agent
from botforge.services.stages import Stages
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache
from botforge.services.tool_selection import ToolSelector

job = json.load(sys.stdin)
now, user, bot = datetime.now(UTC), UserId(uuid4()), BotId(uuid4())
schema = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
server = ToolServer(
    id=ToolServerId(uuid4()),
    bot_id=bot,
    user_id=user,
    name="Tools",
    endpoint_url=job["tools"],
    description="",
    is_active=True,
    timeout_seconds=30,
    retry_attempts=3,
    protocol=ToolProtocol.REST,
    dialect=Dialect.REST,
    policies={},
    sealed_credential=None,
    credential_kind=None,
    health=ServerHealth(),
    created_at=now,
    updated_at=now,
)
definition = ToolDefinition("calculator", "Calculate an arithmetic expression.", schema, "digest")
target = ServerTool(server, Tool(ToolId(uuid4()), server.id, bot, definition, ToolStatus.ACTIVE, None, now, now))


class OneTool:
    """The bot's tools, and its executions, in memory; every text has the same vector."""

    model_id, dimension = "none", 1

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [Embedding([1.0], truncated=False) for _ in texts]

    def nearest(self, *_: object, **__: object) -> list[tuple[ServerTool, float]]:
        return [(target, 1.0)]

    def nearest_to_any(self, *_: object, **__: object) -> list[tuple[ServerTool, list[float]]]:
        return [(target, [1.0])]

    def callable_count(self, *_: object) -> int:
        return 1

    def withheld(self, *_: object) -> list[str]:
        return []

    def start(self, execution: object) -> None:
        self.started = execution

    def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: object) -> bool:
        self.finished = (user_id, execution_id, outcome)
        return True


def unforeseen(error: BaseException) -> None:
    raise SystemExit(repr(error))


world: Any = OneTool()
transport = ByProtocolTransport(allow_loopback=True)
executor = ToolExecutor(world, transport, lambda _: None, ResultCache(None), SystemClock(), time.sleep, unforeseen)
chat = OpenAIChatModel(api_key=job["key"], base_url=job["llm"], model="gpt-4o-mini")
agent = Agent(chat, ToolSelector(world, world), world, executor, JsonSchemaChecker(), unforeseen)
totals: list[float] = []
for number in range(job["warm_up"] + job["conversations"]):
    query = Query(uuid4(), user, bot, "benchmark", f"Count on from {number}.")
    start = time.perf_counter()
    answer = agent.run(query, Deadline.after(25), Stages())
    totals.append(time.perf_counter() - start)
    assert len(answer.tools_used) == job["rounds"] and all(use.succeeded for use in answer.tools_used), answer  # noqa: S101, PT018
print(json.dumps({"totals": totals}))
