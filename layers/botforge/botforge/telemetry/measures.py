"""What is measured, and how it is named: CloudWatch's embedded metric format.

Names are ``Subject`` or ``Subject.kind``, where the kinds are an enum's or a constant of the code: their number is
bounded. The dimensions are the service, and whether the invocation was the first of its execution environment.
"""

import math
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from aws_lambda_powertools.metrics import Metrics, MetricUnit

from botforge.domain.ingestion import IngestionResult
from botforge.domain.query import QueryRecord, QueryStatus

if TYPE_CHECKING:  # at run time it would bring the ports along, into every function
    from botforge.domain.tool_use import ToolUse
    from botforge.services.monitoring import MonitoringResult
    from botforge.services.tool_monitoring import ToolMonitoringResult

NAMESPACE = os.environ.get("POWERTOOLS_METRICS_NAMESPACE") or "BotForge"

_metrics = Metrics(namespace=NAMESPACE, service=os.environ.get("POWERTOOLS_SERVICE_NAME") or "botforge")


def measure(name: str, unit: MetricUnit, value: float) -> None:
    """Note a value; one that is no finite number is left out: JSON cannot hold it, and CloudWatch would refuse it."""
    if math.isfinite(value):
        _metrics.add_metric(name, unit, value)


def count(name: str, number: int = 1) -> None:
    measure(name, MetricUnit.Count, number)


def measure_query(record: QueryRecord) -> None:
    measure("QueryLatency", MetricUnit.Milliseconds, record.latency_ms)
    for stage, milliseconds in record.stage_ms.items():
        measure(f"QueryLatency.{stage}", MetricUnit.Milliseconds, milliseconds)
    if record.best_relevance is not None:
        measure("Relevance", MetricUnit.NoUnit, record.best_relevance)
    count("Queries.failed", int(record.status is QueryStatus.FAILED))
    count("Abstentions", int(record.status is QueryStatus.ABSTAINED))
    count("DegradedAnswers", int(bool(record.degraded)))
    for part in record.degraded:
        count(f"DegradedAnswers.{part}")


def measure_tool_use(use: "ToolUse") -> None:
    count(f"ToolCalls.{'cached' if use.cached else use.status.value}")
    measure("ToolLatency", MetricUnit.Milliseconds, use.duration_ms)


def measure_ingestion(result: IngestionResult) -> None:
    count(f"Documents.{result.outcome.value}")
    count(f"Chunks.{result.outcome.value}", result.chunks)
    count("TruncatedChunks", result.truncated)
    if result.lag_seconds is not None:
        measure("IngestionLag", MetricUnit.Seconds, max(0.0, result.lag_seconds))  # clocks differ


def measure_monitoring(result: "MonitoringResult") -> None:
    for name, number in asdict(result).items():
        count(f"Monitoring.{name}", number)


def measure_tool_monitoring(result: "ToolMonitoringResult") -> None:
    """``ToolServers.unhealthy`` counts those whose last check failed, an open circuit included; an alarm watches it."""
    number = {status.value: servers for status, servers in result.servers.items()}
    count("ToolServers.healthy", number["healthy"])
    count("ToolServers.unhealthy", number["unhealthy"] + number["open"])
    count("ToolServers.circuit_open", number["open"])
    count("ToolServerChecks.answered", result.answered)
    count("ToolServerChecks.failed", result.failed)
    count("ToolServerChecks.left", result.left)
    count("ToolDefinitions.changed", result.tools_changed)
    for latency_ms in result.latencies_ms:
        measure("ToolServerLatency", MetricUnit.Milliseconds, latency_ms)


def flush(*, cold_start: bool) -> None:
    """Print what was measured since the last time, in one line (or more, above 100 values of a metric)."""
    count("ColdStart", int(cold_start))  # its average is the share of cold starts
    _metrics.add_dimensions(service=str(_metrics.service), cold_start=str(cold_start).lower())
    _metrics.flush_metrics()
