"""The body of ``/health``."""

from botforge.http.schemas.fields import ReplyBody
from botforge.services.health import Condition, HealthReport


class DependencyReply(ReplyBody):
    status: Condition
    required: bool
    latency_ms: float | None
    code: str | None
    counts: dict[str, int] | None  # of tool servers, by status


class HealthReply(ReplyBody):
    status: str  # "ok" or "unavailable"
    version: str
    dependencies: dict[str, DependencyReply]

    @classmethod
    def of(cls, report: HealthReport, version: str) -> "HealthReply":
        return cls(
            status="ok" if report.healthy else "unavailable",
            version=version,
            dependencies={
                name: DependencyReply(
                    status=health.condition,
                    required=name in report.required,
                    latency_ms=None if health.latency_ms is None else round(health.latency_ms, 2),
                    code=health.code,
                    counts=None if health.counts is None else dict(health.counts),
                )
                for name, health in report.dependencies.items()
            },
        )
