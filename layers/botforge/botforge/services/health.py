"""Whether the parts that answers depend on are there."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from enum import StrEnum

from botforge.domain.errors import Unavailable
from botforge.domain.tool import ServerStatus


class Condition(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"  # a part of it is missing
    UNAVAILABLE = "unavailable"
    NOT_CONFIGURED = "not_configured"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check saw; ``counts`` where the dependency is many things."""

    condition: Condition
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class DependencyHealth:
    condition: Condition
    latency_ms: float | None = None
    counts: Mapping[str, int] | None = None
    code: str | None = None  # why it is unavailable; never an address or a message of the dependency's own


@dataclass(frozen=True, slots=True)
class HealthReport:
    dependencies: Mapping[str, DependencyHealth]
    required: frozenset[str]

    @property
    def healthy(self) -> bool:
        return all(self.dependencies[name].condition is Condition.OK for name in self.required)


Check = Callable[[], Finding]  # raises Unavailable


@dataclass(frozen=True, slots=True)
class HealthService:
    """Runs every check at the same time, each with ``timeout_s``: a dependency that hangs is unavailable."""

    checks: Mapping[str, Check]
    required: frozenset[str]
    timeout_s: float = 3.0

    def report(self) -> HealthReport:
        pool = ThreadPoolExecutor(max_workers=max(1, len(self.checks)))
        try:
            futures = {name: pool.submit(_measured, check) for name, check in self.checks.items()}
            deadline = time.monotonic() + self.timeout_s
            results: dict[str, DependencyHealth] = {}
            for name, future in futures.items():
                try:
                    results[name] = future.result(timeout=max(0.0, deadline - time.monotonic()))
                except FutureTimeoutError:
                    results[name] = DependencyHealth(Condition.UNAVAILABLE, code="timeout")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return HealthReport(results, self.required)


def of_tool_servers(servers: Mapping[ServerStatus, int]) -> Finding:
    """As the monitor last found them, over all tenants; the counts say nothing of whose they are."""
    failing = servers[ServerStatus.UNHEALTHY] + servers[ServerStatus.OPEN]
    counts = {status.value: number for status, number in servers.items()}
    if not sum(servers.values()):
        return Finding(Condition.NOT_CONFIGURED, counts)
    return Finding(Condition.DEGRADED if failing else Condition.OK, counts)


def _measured(check: Check) -> DependencyHealth:
    start = time.monotonic()
    try:
        found = check()
    except Unavailable as error:
        return DependencyHealth(Condition.UNAVAILABLE, code=error.code)
    return DependencyHealth(found.condition, latency_ms=(time.monotonic() - start) * 1000, counts=found.counts)
