"""Calls to a tool server of which one request in ten fails: what succeeds, what is repeated, and what nobody knows.

Such a request meets, with equal chance, a reset connection, a 500, an answer that never comes, or garbage; in half of
the cases after the tool has run. The executor and the REST transport are the product's own; executions are kept in
memory.
"""

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from botforge.adapters.clock import SystemClock
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import BotId, ExecutionId, ToolId, ToolServerId, UserId
from botforge.domain.tool import (
    Dialect,
    Effect,
    ServerHealth,
    ServerTool,
    Tool,
    ToolDefinition,
    ToolPolicy,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache
from botforge_dev.benchmarks.measuring import BenchmarkFailed
from botforge_dev.fakes.loopback import Answer, Hang, Request, Reset, Respond, serve

_SHARE = 0.1
_CLIENTS = 8
_TIMEOUT_S = 1  # of the server: an answer that never comes is waited for so long
_RETRIES = 3  # what a server is registered with, if nothing else is said


@dataclass(slots=True)
class _Server:
    """Acts once for an Idempotency-Key, and each time for a request without one."""

    chance: random.Random
    effects: Counter[int] = field(default_factory=Counter[int])
    keys: set[str] = field(default_factory=set[str])
    requests: int = 0
    faults: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Answer:
        place = json.loads(request.body)["parameters"]["place"]
        with self.lock:
            self.requests += 1
            fault = self._fault()
            acts = fault is None or self.chance.random() < 0.5
            key = request.headers.get("idempotency-key")
            if acts and (key is None or key not in self.keys):
                self.effects[place] += 1
            if acts and key is not None:
                self.keys.add(key)
        return fault or Respond(200, {"success": True, "result": place})

    def _fault(self) -> Answer | None:
        if self.chance.random() >= _SHARE:
            return None
        self.faults += 1
        return self.chance.choice([Reset(), Respond(500), Hang(), Respond(200, b"<html>")])


class _Executions:
    """Executions, in memory."""

    def __init__(self) -> None:
        self.status: dict[ExecutionId, ExecutionStatus] = {}

    def start(self, execution: Execution) -> None:
        self.status[execution.id] = execution.status

    def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
        del user_id
        self.status[execution_id] = outcome.status
        return True


def run(*, quick: bool) -> dict[str, Any]:
    """Counts of calls by what became of them, for tools that may be repeated and for the others."""
    calls = 200 if quick else 1_000
    return {
        "calls": calls,
        "idempotent": _called(Effect.IDEMPOTENT, calls),
        "unsafe": _called(Effect.UNSAFE, calls),
    }


def _called(effect: Effect, calls: int) -> dict[str, int]:
    executions: Any = _Executions()
    server = _Server(random.Random(7))  # noqa: S311 - faults that can be repeated
    executor = ToolExecutor(
        executions,
        ByProtocolTransport(allow_loopback=True),
        lambda _: None,
        ResultCache(None),
        SystemClock(),
        time.sleep,
        _unforeseen,
    )
    with serve(server.answer) as url:
        target = _target(url, effect)

        def call(place: int) -> tuple[int, ExecutionStatus]:
            used = executor.execute(
                target.server.user_id,
                target,
                {"place": place},
                execution_id=ExecutionId(uuid4()),
                query_id=None,
                deadline=Deadline.after(25),
            )
            return place, used.status

        with ThreadPoolExecutor(_CLIENTS) as pool:
            ended = list(pool.map(call, range(calls)))
    outcomes = Counter(status for _, status in ended)
    if Counter(executions.status.values()) != outcomes:
        raise BenchmarkFailed("The executions do not say what the calls said.")
    return {
        "requests": server.requests,
        "faults": server.faults,
        **{status.value: outcomes[status] for status in ExecutionStatus},
        "effects_twice": sum(times > 1 for times in server.effects.values()),
        "claimed_without_effect": sum(
            status is ExecutionStatus.SUCCEEDED and not server.effects[place] for place, status in ended
        ),
        "failed_with_effect": sum(
            status is ExecutionStatus.FAILED and server.effects[place] > 0 for place, status in ended
        ),
    }


def _target(url: str, effect: Effect) -> ServerTool:
    now, bot = datetime.now(UTC), BotId(uuid4())
    server = ToolServer(
        id=ToolServerId(uuid4()),
        bot_id=bot,
        user_id=UserId(uuid4()),
        name="Tools",
        endpoint_url=url,
        description="",
        is_active=True,
        timeout_seconds=_TIMEOUT_S,
        retry_attempts=_RETRIES,
        protocol=ToolProtocol.REST,
        dialect=Dialect.REST,
        policies={"*": ToolPolicy(effect)},
        sealed_credential=None,
        credential_kind=None,
        health=ServerHealth(),
        created_at=now,
        updated_at=now,
    )
    definition = ToolDefinition("act", "Acts.", {"type": "object"}, "digest")
    return ServerTool(server, Tool(ToolId(uuid4()), server.id, bot, definition, ToolStatus.ACTIVE, None, now, now))


def _unforeseen(error: BaseException) -> None:
    raise BenchmarkFailed(repr(error))
