"""One tool call: what is written before and after it, when it may be repeated, and what is believed of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest
from tests.fakes.clock import FixedClock
from tests.fakes.tools import USER, InMemoryExecutions, ScriptedTransport, a_server, a_tool, result

from botforge.adapters.cache.memory import MemoryCache
from botforge.domain.deadline import Deadline
from botforge.domain.errors import (
    DatabaseUnavailable,
    Delivery,
    EgressRefused,
    ToolServerError,
    VaultUnavailable,
)
from botforge.domain.execution import ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import ExecutionId, UserId
from botforge.domain.tool import Credential, CredentialKind, Effect, ServerTool, ToolServer
from botforge.domain.tool_use import ToolUse
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache

ARGUMENTS = {"a": 1, "b": 2}
SECRET = Credential(CredentialKind.BEARER, "a secret")


def failure(delivery: Delivery, code: str = "tool_server_error") -> ToolServerError:
    return ToolServerError("The server failed.", delivery=delivery, code=code)


NOT_SENT = failure(Delivery.NOT_SENT, "tool_server_unreachable")
LOST = failure(Delivery.UNKNOWN, "tool_server_timeout")
ANSWERED = failure(Delivery.ANSWERED)


@dataclass(slots=True)
class Bench:
    transport: ScriptedTransport = field(default_factory=ScriptedTransport)
    executions: InMemoryExecutions = field(default_factory=InMemoryExecutions)
    cache: MemoryCache = field(default_factory=MemoryCache)
    clock: FixedClock = field(default_factory=FixedClock)
    pauses: list[float] = field(default_factory=list[float])
    unforeseen: list[BaseException] = field(default_factory=list[BaseException])
    credential: Callable[[ToolServer], Credential | None] = lambda _: SECRET

    def run(
        self, target: ServerTool, arguments: dict[str, Any] | None = None, *, user: UserId = USER, seconds: float = 20
    ) -> ToolUse:
        executor = ToolExecutor(
            self.executions,
            self.transport,
            self.credential,
            ResultCache(self.cache),
            self.clock,
            self._pause,
            self.unforeseen.append,
        )
        return executor.execute(
            user,
            target,
            ARGUMENTS if arguments is None else arguments,
            execution_id=ExecutionId(uuid4()),
            query_id=uuid4(),
            deadline=Deadline.after(seconds, self.clock.monotonic),
        )

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.elapsed += seconds


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_row_is_committed_before_the_request_leaves(bench: Bench) -> None:
    seen: list[ExecutionStatus] = []
    bench.transport.before = lambda: seen.append(bench.executions.only().status)

    used = bench.run(a_tool())

    assert seen == [ExecutionStatus.STARTED]
    row = bench.executions.only()
    assert (row.status, row.id, row.attempts) == (ExecutionStatus.SUCCEEDED, used.execution_id, 1)
    assert (row.input_parameters, row.output_result, row.tool_name) == (ARGUMENTS, "add did it", "add")
    assert (used.status, used.cached, used.result) == (ExecutionStatus.SUCCEEDED, False, result("add did it"))


def test_nothing_is_sent_when_the_row_cannot_be_written(bench: Bench) -> None:
    bench.executions.refuse = {"start"}

    used = bench.run(a_tool())

    assert bench.transport.calls == []
    assert (used.status, used.error_code, used.execution_id) == (ExecutionStatus.FAILED, "database_unavailable", None)


def test_an_outcome_that_cannot_be_recorded_counts_as_unknown_and_its_result_is_not_passed_on(bench: Bench) -> None:
    bench.executions.refuse = {"finish"}

    used = bench.run(a_tool(effect=Effect.READ_ONLY, ttl=60))

    assert (used.status, used.error_code) == (ExecutionStatus.UNKNOWN, "execution_not_recorded")
    assert used.result is None
    assert bench.executions.log.count("finish") == 3
    bench.executions.refuse = set()
    assert not bench.run(a_tool(effect=Effect.READ_ONLY, ttl=60)).cached


def test_a_row_that_the_monitor_has_resolved_meanwhile_is_believed(bench: Bench) -> None:
    def resolved() -> None:
        row = bench.executions.only()
        bench.executions.finish(row.user_id, row.id, ExecutionOutcome(ExecutionStatus.UNKNOWN, 0, 0))

    bench.transport.before = resolved

    assert bench.run(a_tool()).status is ExecutionStatus.UNKNOWN
    assert bench.executions.only().status is ExecutionStatus.UNKNOWN


@pytest.mark.parametrize("effect", list(Effect))
def test_a_request_that_never_arrived_is_sent_again_whatever_the_tool_does(bench: Bench, effect: Effect) -> None:
    bench.transport.script = [NOT_SENT, NOT_SENT]

    used = bench.run(a_tool(effect=effect))

    assert (used.status, used.attempts, bench.executions.only().attempts) == (ExecutionStatus.SUCCEEDED, 3, 3)


@pytest.mark.parametrize("lost", [LOST, ANSWERED, failure(Delivery.ANSWERED, "tool_server_invalid_response")])
def test_a_tool_that_was_not_declared_repeatable_is_never_called_again(bench: Bench, lost: ToolServerError) -> None:
    bench.transport.script = [lost]

    used = bench.run(a_tool())

    assert len(bench.transport.calls) == 1
    assert (used.status, bench.executions.only().status) == (ExecutionStatus.UNKNOWN, ExecutionStatus.UNKNOWN)


@pytest.mark.parametrize("effect", [Effect.IDEMPOTENT, Effect.READ_ONLY])
@pytest.mark.parametrize("lost", [LOST, ANSWERED])
def test_a_repeatable_tool_is_called_again_with_the_same_key(
    bench: Bench, effect: Effect, lost: ToolServerError
) -> None:
    bench.transport.script = [lost, lost]

    used = bench.run(a_tool(effect=effect))

    assert used.succeeded
    assert {call.idempotency_key for call in bench.transport.calls} == {str(used.execution_id)}
    assert bench.pauses == sorted(bench.pauses)


def test_a_tool_that_is_not_repeatable_gets_no_key_that_promises_otherwise(bench: Bench) -> None:
    bench.run(a_tool())

    assert bench.transport.calls[0].idempotency_key is None


def test_the_number_of_further_attempts_is_the_servers_setting(bench: Bench) -> None:
    bench.transport.script = [NOT_SENT] * 9

    used = bench.run(a_tool(server=a_server(retry_attempts=2)))

    assert (used.status, used.attempts, used.error_code) == (ExecutionStatus.FAILED, 3, "tool_server_unreachable")


def test_an_attempt_that_may_have_arrived_is_not_forgotten_when_the_next_never_did(bench: Bench) -> None:
    bench.transport.script = [LOST, NOT_SENT, NOT_SENT, NOT_SENT]

    assert bench.run(a_tool(effect=Effect.IDEMPOTENT)).status is ExecutionStatus.UNKNOWN


@pytest.mark.parametrize(
    ("code", "effect", "status"),
    [
        ("tool_server_unauthorized", Effect.UNSAFE, ExecutionStatus.FAILED),
        ("tool_unknown", Effect.UNSAFE, ExecutionStatus.FAILED),
        ("tool_call_refused", Effect.UNSAFE, ExecutionStatus.FAILED),
        ("tool_server_busy", Effect.UNSAFE, ExecutionStatus.FAILED),
        ("tool_response_too_large", Effect.UNSAFE, ExecutionStatus.UNKNOWN),
        ("tool_response_too_large", Effect.READ_ONLY, ExecutionStatus.FAILED),
    ],
)
def test_an_answer_that_repeating_would_not_change_is_not_asked_for_again(
    bench: Bench, code: str, effect: Effect, status: ExecutionStatus
) -> None:
    bench.transport.script = [failure(Delivery.ANSWERED, code)]

    used = bench.run(a_tool(effect=effect))

    assert (used.status, used.attempts, used.error_code) == (status, 1, code)


def test_a_failure_that_the_tool_itself_reports_is_a_failure_with_its_words(bench: Bench) -> None:
    bench.transport.script = [result("out of paper", {"reason": "paper"}, is_error=True)]

    used = bench.run(a_tool(effect=Effect.IDEMPOTENT))

    row = bench.executions.only()
    assert (used.status, used.attempts, used.error_code) == (ExecutionStatus.FAILED, 1, "tool_error")
    assert (row.status, row.error_message, row.output_result) == ("failed", "out of paper", {"reason": "paper"})


def test_each_attempt_ends_by_the_servers_timeout_and_all_by_the_deadline(bench: Bench) -> None:
    bench.transport.script = [LOST, LOST]
    bench.transport.before = lambda: setattr(bench.clock, "elapsed", bench.clock.elapsed + 4)

    bench.run(a_tool(server=a_server(timeout_seconds=5), effect=Effect.READ_ONLY), seconds=11)

    assert [deadline.at for deadline in bench.transport.deadlines] == pytest.approx([5.0, 9.1, 11.0])
    assert len(bench.transport.calls) == 3


def test_no_attempt_is_begun_without_time_for_it(bench: Bench) -> None:
    bench.transport.script = [LOST] * 4
    bench.transport.before = lambda: setattr(bench.clock, "elapsed", bench.clock.elapsed + 3)

    used = bench.run(a_tool(effect=Effect.READ_ONLY), seconds=3)

    assert (used.attempts, used.status) == (1, ExecutionStatus.UNKNOWN)
    assert bench.pauses == []


def test_a_call_whose_deadline_has_passed_leaves_no_row_and_is_not_made(bench: Bench) -> None:
    used = bench.run(a_tool(), seconds=0)

    assert (used.status, used.error_code) == (ExecutionStatus.FAILED, "deadline_exceeded")
    assert bench.executions.rows == {}
    assert bench.transport.calls == []


def test_time_that_runs_out_while_the_row_is_written_leaves_a_failed_row_and_no_call(bench: Bench) -> None:
    def slow(_: ToolServer) -> Credential | None:
        bench.clock.elapsed += 60
        return None

    bench.credential = slow

    used = bench.run(a_tool())

    assert bench.transport.calls == []
    assert (used.status, bench.executions.only().status) == (ExecutionStatus.FAILED, ExecutionStatus.FAILED)


def test_a_credential_is_opened_for_the_call_and_appears_in_no_row(bench: Bench) -> None:
    used = bench.run(a_tool())

    assert bench.transport.endpoints[0].credential == SECRET
    assert SECRET.secret not in f"{used!r}{bench.executions.only()!r}{bench.transport.endpoints!r}"


def test_a_credential_that_cannot_be_opened_is_a_failure_and_nothing_is_sent(bench: Bench) -> None:
    def closed(_: ToolServer) -> Credential | None:
        raise VaultUnavailable("The vault does not answer.")

    bench.credential = closed

    used = bench.run(a_tool())

    assert bench.transport.calls == []
    assert (used.status, bench.executions.only().error_code) == (ExecutionStatus.FAILED, "vault_unavailable")


def test_an_address_that_is_refused_at_the_call_is_a_failure(bench: Bench) -> None:
    bench.transport.script = [EgressRefused("The address is not public.")]

    used = bench.run(a_tool(effect=Effect.READ_ONLY))

    assert (used.status, used.error_code, used.attempts) == (ExecutionStatus.FAILED, "endpoint_refused", 1)


def test_an_error_that_nobody_foresaw_is_reported_and_the_outcome_unknown(bench: Bench) -> None:
    error = ZeroDivisionError("a defect")
    bench.transport.script = [error]

    used = bench.run(a_tool(effect=Effect.READ_ONLY))

    assert bench.unforeseen == [error]
    assert (used.status, bench.executions.only().status) == (ExecutionStatus.UNKNOWN, ExecutionStatus.UNKNOWN)
    assert "defect" not in f"{used!r}"


def test_what_cannot_be_stored_is_replaced_before_it_is(bench: Bench) -> None:
    bench.transport.script = [result("x", {"a\0": ["\ud800", float("nan"), 1.5]})]

    assert bench.run(a_tool()).succeeded
    assert bench.executions.only().output_result == {"a\ufffd": ["?", None, 1.5]}


class TestCachedResults:
    def test_a_cacheable_result_is_served_without_a_call_or_a_row_and_marked(self, bench: Bench) -> None:
        target = a_tool(effect=Effect.READ_ONLY, ttl=60)
        first = bench.run(target)

        second = bench.run(target, {"b": 2.0, "a": 1})

        assert (first.cached, second.cached, second.execution_id) == (False, True, None)
        assert second.result == first.result
        assert (len(bench.transport.calls), len(bench.executions.rows)) == (1, 1)

    def test_a_result_is_kept_only_if_its_registrar_says_so_and_it_is_whole_and_good(self, bench: Bench) -> None:
        server = a_server()
        bench.transport.script = [result(), result(is_error=True), result(truncated=True), LOST]
        for ttl in (0, 60, 60, 60):
            bench.run(a_tool(server=server, ttl=ttl))
        assert not bench.run(a_tool(server=server, ttl=60)).cached
        assert len(bench.transport.calls) == 5

    def test_no_result_crosses_tenants_servers_definitions_addresses_or_arguments(self, bench: Bench) -> None:
        target = a_tool(ttl=60)
        bench.run(target)
        assert bench.run(target).cached
        others = [
            (target, ARGUMENTS, UserId(uuid4())),
            (target, {"a": 1, "b": 3}, USER),
            (a_tool(ttl=60), ARGUMENTS, USER),
            (_changed(target, digest="another"), ARGUMENTS, USER),
            (_moved(target, "https://elsewhere.example.com"), ARGUMENTS, USER),
        ]
        for other, arguments, user in others:
            assert not bench.run(other, arguments, user=user).cached

    @pytest.mark.parametrize("garbage", [b"", b"[]", b"{", b'{"text": 1, "content": 2}', b'{"text": "a"}', b"[" * 9999])
    def test_a_cache_that_others_wrote_to_is_a_miss(self, garbage: bytes) -> None:
        class Poisoned:
            def get(self, key: str) -> bytes | None:
                del key
                return garbage

            def set(self, key: str, value: bytes, *, ttl: int) -> None:
                del key, value, ttl

        assert ResultCache(Poisoned()).get(USER, a_tool(ttl=60), ARGUMENTS) is None


def _changed(target: ServerTool, *, digest: str) -> ServerTool:
    return replace(target, tool=replace(target.tool, definition=replace(target.tool.definition, digest=digest)))


def _moved(target: ServerTool, url: str) -> ServerTool:
    return replace(target, server=replace(target.server, endpoint_url=url))


def test_a_database_that_comes_back_gets_the_outcome(bench: Bench) -> None:
    class Flaky(InMemoryExecutions):
        def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
            self.log.append("try")
            if self.log.count("try") < 3:
                raise DatabaseUnavailable("not yet")
            return InMemoryExecutions.finish(self, user_id, execution_id, outcome)

    bench.executions = Flaky()

    assert bench.run(a_tool()).succeeded
