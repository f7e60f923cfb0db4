"""Looking at every registered tool server now and then: does it answer, and does it still say what was accepted?"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError, DatabaseUnavailable, Delivery, ToolServerError, VaultUnavailable
from botforge.domain.ids import ToolServerId
from botforge.domain.tool import Discovery, ServerHealth, ServerStatus, Tool, ToolProtocol, ToolServer
from botforge.domain.tool_review import changed_tools
from botforge.ports.clock import Clock
from botforge.ports.repositories import ServerChecks
from botforge.ports.tools import Endpoint, ToolTransport
from botforge.services.registration import bounded
from botforge.services.tool_credentials import ToolCredentials

FAILURES_TO_OPEN = 3


class _Outcome(StrEnum):
    ANSWERED = "answered"
    FAILED = "failed"
    LEFT = "left"  # no time was left, or its credential could not be opened: nothing is known of the server


@dataclass(frozen=True, slots=True)
class _Check:
    outcome: _Outcome
    latency_ms: float | None = None
    changed_tools: int = 0
    opened: ToolServerId | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ToolMonitoringResult:
    answered: int
    failed: int
    left: int  # for the next run
    tools_changed: int
    circuits_opened: Sequence[ToolServerId]
    circuits_closed: int
    servers: Mapping[ServerStatus, int]  # all that are active, after this run
    latencies_ms: Sequence[float]  # of those that answered


@dataclass(frozen=True, slots=True)
class ToolMonitor:
    """``workers`` servers are looked at side by side, each for ``check_s`` at the most: 500 of which 50 hang take
    50 · 10 / 32 ≈ 16 s beside what the others need. ``interval`` is a little less than the schedule's own."""

    checks: ServerChecks
    transport: ToolTransport
    credentials: ToolCredentials
    clock: Clock
    on_unforeseen: Callable[[BaseException], None]
    workers: int = 32
    check_s: float = 10.0
    interval: timedelta = timedelta(minutes=4)
    at_most: int = 2_000  # of one run

    def run(self, deadline: Deadline) -> ToolMonitoringResult:
        """One round, which begins no check that could last beyond ``deadline``. Raises DatabaseUnavailable."""
        due = self.checks.claim_due(limit=self.at_most, not_since=self.interval)

        def check(server: ToolServer) -> _Check:
            return self._check(server, deadline)

        with ThreadPoolExecutor(max_workers=self.workers, thread_name_prefix="tool-check") as pool:
            checks = list(pool.map(check, due))
        return ToolMonitoringResult(
            answered=sum(check.outcome is _Outcome.ANSWERED for check in checks),
            failed=sum(check.outcome is _Outcome.FAILED for check in checks),
            left=sum(check.outcome is _Outcome.LEFT for check in checks),
            tools_changed=sum(check.changed_tools for check in checks),
            circuits_opened=[check.opened for check in checks if check.opened is not None],
            circuits_closed=sum(check.closed for check in checks),
            servers=self.checks.health(),
            latencies_ms=[check.latency_ms for check in checks if check.latency_ms is not None],
        )

    def _check(self, server: ToolServer, deadline: Deadline) -> _Check:
        if deadline.remaining() < self.check_s:
            return _Check(_Outcome.LEFT)
        start = self.clock.monotonic()
        try:
            discovery = self._discover(server, Deadline.after(self.check_s, deadline.monotonic))
        except VaultUnavailable:
            return _Check(_Outcome.LEFT)
        except DatabaseUnavailable:
            raise
        except BotForgeError as error:
            return self._failed(server, error.code)
        except Exception as error:  # noqa: BLE001 - one server must not keep the others from being looked at
            self.on_unforeseen(error)
            return self._failed(server, "check_failed")
        latency_ms = (self.clock.monotonic() - start) * 1000
        return self._answered(server, bounded(discovery), latency_ms)

    def _discover(self, server: ToolServer, deadline: Deadline) -> Discovery:
        credential = self.credentials.open(server)
        try:
            return self.transport.discover(
                Endpoint(server.endpoint_url, server.protocol, server.dialect, credential), deadline=deadline
            )
        except ToolServerError as error:
            # It answered, though not in the dialect that is remembered: it may have been replaced by a newer one.
            found_out = server.protocol is not ToolProtocol.REST and server.dialect is not None
            if error.delivery is not Delivery.ANSWERED or not found_out:
                raise
        return self.transport.discover(
            Endpoint(server.endpoint_url, server.protocol, None, credential), deadline=deadline
        )

    def _answered(self, server: ToolServer, discovery: Discovery, latency_ms: float) -> _Check:
        now = self.clock.now()
        known = self.checks.tools_of(server)
        changed: list[Tool] = changed_tools(server.id, server.bot_id, known, discovery.tools, now)
        health = ServerHealth(ServerStatus.HEALTHY, latency_ms, 0, now, None)
        self.checks.save_check(server, health, changed, discovery.dialect)
        closed = server.health.status is ServerStatus.OPEN
        return _Check(_Outcome.ANSWERED, latency_ms, len(changed), closed=closed)

    def _failed(self, server: ToolServer, code: str) -> _Check:
        failures = server.health.consecutive_failures + 1
        status = ServerStatus.OPEN if failures >= FAILURES_TO_OPEN else ServerStatus.UNHEALTHY
        health = ServerHealth(status, None, failures, self.clock.now(), code)
        self.checks.save_check(server, health, (), server.dialect)
        opened = status is ServerStatus.OPEN and server.health.status is not ServerStatus.OPEN
        return _Check(_Outcome.FAILED, opened=server.id if opened else None)
