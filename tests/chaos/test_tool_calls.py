"""Wherever the caller dies and whatever the server does: no side effect twice, and no row that claims too much.

A real PostgreSQL, a real tool server on loopback that counts what it did, and for the kills a real process that gets a
real SIGKILL at each step of a call.
"""

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.conftest import ROOT, TestDatabase
from tests.fakes import tool_records
from tests.fakes.tool_servers import GARBAGE, HANG, RESET, SERVER_ERROR, Injected, ToolServer, tool_server
from tests.fakes.tool_servers import Effect as Effected

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.execution import Execution, ExecutionStatus
from botforge.domain.ids import ExecutionId
from botforge.domain.tool import Dialect, Effect, ServerTool, ToolPolicy, ToolProtocol
from botforge.domain.tool_use import ToolUse
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache
from botforge_dev.fakes.loopback import Request

_CALLER = ROOT / "tests" / "chaos" / "killed_caller.py"
_STEPS = ("before start", "after start", "before call", "during call", "after call", "before finish", "after finish")


class Noticed(list[Effected]):
    """Effects, and an event for the first of them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def append(self, effect: Effected) -> None:
        super().append(effect)
        self.seen.set()


@pytest.fixture
def tools() -> Iterator[ToolServer]:
    with tool_server() as server:
        yield server


def registered(tenant: Database, url: str, effect: Effect, *, timeout: int = 1) -> ServerTool:
    bot = PostgresBots(tenant).create(tool_records.a_bot())
    server = tool_records.a_server(
        bot,
        endpoint_url=url,
        protocol=ToolProtocol.REST,
        dialect=Dialect.REST,
        policies={"*": ToolPolicy(effect)},
        timeout_seconds=timeout,
    )
    tool = tool_records.a_tool(server, "pay")
    PostgresToolServers(tenant).create(server, [tool], [tool_records.a_vector(1.0)])
    return ServerTool(server, tool)


def rows(tenant: Database, target: ServerTool) -> list[Execution]:
    executions, found, cursor = PostgresExecutions(tenant), list[Execution](), None
    while True:
        page = executions.list(
            target.server.user_id,
            target.server.bot_id,
            status=None,
            tool_name=None,
            since=None,
            until=None,
            limit=100,
            cursor=cursor,
        )
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("step", _STEPS)
def test_a_caller_that_is_killed_leaves_at_most_one_effect_and_a_row_that_the_monitor_resolves(
    database: TestDatabase, tenant: Database, worker: Database, tools: ToolServer, step: str
) -> None:
    target = registered(tenant, tools.url, Effect.UNSAFE, timeout=30)
    tools.effects = effects = Noticed()
    if step == "during call":
        tools.fail(HANG, acted=True)
    arguments = [database.tenant, str(target.server.user_id), str(target.server.bot_id), step]

    with subprocess.Popen([sys.executable, str(_CALLER), *arguments], stderr=subprocess.PIPE) as caller:  # noqa: S603
        if step == "during call":
            assert effects.seen.wait(60)
            caller.kill()
        _, complaint = caller.communicate(timeout=60)

    assert caller.returncode == -signal.SIGKILL, complaint
    sent = step in {"during call", "after call", "before finish", "after finish"}
    assert len(tools.effects) == int(sent)
    before = rows(tenant, target)
    expected = {"before start": [], "after finish": ["succeeded"]}.get(step, ["started"])
    assert [row.status for row in before] == expected
    PostgresMaintenance(worker).expire_executions(older_than=timedelta(seconds=-1))
    after = rows(tenant, target)
    assert [row.status for row in after] == ["unknown" if status == "started" else status for status in expected]
    assert len(tools.effects) == int(sent)


class Fault:
    """One call in ten meets a reset, a 500, a hang or garbage; half of those after the tool ran."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.injected = 0

    def __call__(self, request: Request) -> Injected | None:
        del request
        if self._chance.random() >= 0.1:
            return None
        self.injected += 1
        answer = self._chance.choice([RESET, SERVER_ERROR, HANG, GARBAGE])
        return Injected(answer, acted=self._chance.random() < 0.5)


def called(tenant: Database, target: ServerTool, number: int) -> list[ToolUse]:
    executor = ToolExecutor(
        executions=PostgresExecutions(tenant),
        transport=ByProtocolTransport(allow_loopback=True),
        open_credential=lambda _: None,
        cache=ResultCache(None),
        clock=SystemClock(),
        pause=lambda _: None,
        on_unforeseen=lambda error: pytest.fail(repr(error)),
    )

    def call(place: int) -> ToolUse:
        return executor.execute(
            target.server.user_id,
            target,
            {"amount": place},
            execution_id=ExecutionId(uuid4()),
            query_id=None,
            deadline=Deadline.after(25),
        )

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(call, range(number)))


def test_under_faults_repeatable_calls_succeed_and_each_has_one_effect(tenant: Database, tools: ToolServer) -> None:
    target = registered(tenant, tools.url, Effect.IDEMPOTENT)
    tools.inject = fault = Fault(random.Random(7))

    uses = called(tenant, target, 300)

    assert fault.injected >= 15
    succeeded = sum(use.succeeded for use in uses)
    assert succeeded / len(uses) >= 0.99
    amounts = [effect.parameters["amount"] for effect in tools.effects]
    assert len(set(amounts)) == len(amounts), "an effect twice, in spite of its key"
    recorded = {row.id: row.status for row in rows(tenant, target)}
    assert recorded == {use.execution_id: use.status for use in uses}


def test_under_faults_no_other_call_is_made_twice_and_none_is_claimed_that_did_not_happen(
    tenant: Database, tools: ToolServer
) -> None:
    target = registered(tenant, tools.url, Effect.UNSAFE)
    tools.inject = fault = Fault(random.Random(11))

    uses = called(tenant, target, 300)

    assert fault.injected >= 15
    amounts = [effect.parameters["amount"] for effect in tools.effects]
    assert len(set(amounts)) == len(amounts)
    assert len([request for request in tools.requests if request.method == "POST"]) == len(uses)
    done = set(amounts)
    for use in uses:
        happened = use.arguments["amount"] in done
        assert use.status is not ExecutionStatus.STARTED
        assert use.status is ExecutionStatus.UNKNOWN or happened == use.succeeded, use
    assert {row.id: row.status for row in rows(tenant, target)} == {use.execution_id: use.status for use in uses}


def test_a_server_that_is_not_there_is_asked_again_and_nothing_is_left_unknown(tenant: Database) -> None:
    with tool_server() as gone:
        url = gone.url
    target = registered(tenant, url, Effect.UNSAFE)
    target = replace(target, server=replace(target.server, retry_attempts=2))

    (use,) = called(tenant, target, 1)

    assert (use.status, use.attempts, use.error_code) == (ExecutionStatus.FAILED, 3, "tool_server_unreachable")
