"""Whether the parts that answers depend on are there."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from enum import StrEnum

from botforge.domain.errors import Unavailable


class Condition(StrEnum):
    OK = "ok"
    UNAVAILABLE = "unavailable"
    NOT_CONFIGURED = "not_configured"


@dataclass(frozen=True, slots=True)
class DependencyHealth:
    condition: Condition
    latency_ms: float | None = None
    code: str | None = None  # why it is unavailable; never an address or a message of the dependency's own


@dataclass(frozen=True, slots=True)
class HealthReport:
    dependencies: Mapping[str, DependencyHealth]
    required: frozenset[str]

    @property
    def healthy(self) -> bool:
        return all(self.dependencies[name].condition is Condition.OK for name in self.required)


Check = Callable[[], Condition]  # raises Unavailable


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


def _measured(check: Check) -> DependencyHealth:
    start = time.monotonic()
    try:
        condition = check()
    except Unavailable as error:
        return DependencyHealth(Condition.UNAVAILABLE, code=error.code)
    return DependencyHealth(condition, latency_ms=(time.monotonic() - start) * 1000)
