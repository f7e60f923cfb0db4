"""What happened, told twice: a line with the ids for whoever looks into one case, and metrics for the whole."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from botforge.domain.ingestion import IngestionResult
from botforge.domain.query import QueryRecord
from botforge.telemetry.logs import logger
from botforge.telemetry.measures import (
    measure_ingestion,
    measure_monitoring,
    measure_query,
    measure_tool_monitoring,
    measure_tool_use,
)

if TYPE_CHECKING:  # at run time it would bring the ports along, into every function
    from botforge.domain.tool_use import ToolUse
    from botforge.services.monitoring import MonitoringResult
    from botforge.services.tool_monitoring import ToolMonitoringResult


_MAX_IDS = 20  # in one line


def record_query(record: QueryRecord) -> None:
    logger.info(
        "query",
        extra={
            "bot_id": str(record.query.bot_id),
            "query_id": str(record.query.id),
            "intent": record.intent.value,
            "status": record.status.value,
            "error_code": record.error_code,
            "latency_ms": round(record.latency_ms, 2),
            "stage_ms": {stage: round(milliseconds, 2) for stage, milliseconds in record.stage_ms.items()},
            "best_relevance": record.best_relevance,
            "sources": record.sources,
            "model": record.model,
            "tokens": asdict(record.usage),
            "degraded": dict(record.degraded),
        },
    )
    measure_query(record)


def record_tool_uses(uses: Sequence["ToolUse"]) -> None:
    """No line holds arguments or results: those are the tenant's, and stand in the execution's row."""
    for use in uses:
        logger.info(
            "tool",
            extra={
                "server_id": str(use.server_id),
                "execution_id": str(use.execution_id) if use.execution_id else None,
                "status": use.status.value,
                "cached": use.cached,
                "attempts": use.attempts,
                "duration_ms": round(use.duration_ms, 2),
                "error_code": use.error_code,
            },
        )
        measure_tool_use(use)


def record_ingestion(result: IngestionResult) -> None:
    """The line bears the document's own correlation id; those around it keep the invocation's."""
    extra = {
        "document_id": str(result.document_id) if result.document_id else None,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "chunks": result.chunks,
        "truncated": result.truncated,
        "lag_seconds": result.lag_seconds,
    }
    if result.correlation_id:
        extra["correlation_id"] = result.correlation_id
    logger.info("document", extra=extra)
    measure_ingestion(result)


def record_monitoring(result: "MonitoringResult") -> None:
    logger.info("monitoring", extra=asdict(result))
    measure_monitoring(result)


def record_tool_monitoring(result: "ToolMonitoringResult") -> None:
    logger.info(
        "tool_monitoring",
        extra={
            "servers": {status.value: number for status, number in result.servers.items()},
            "answered": result.answered,
            "failed": result.failed,
            "left": result.left,
            "tools_changed": result.tools_changed,
            "circuits_opened": [str(server_id) for server_id in result.circuits_opened[:_MAX_IDS]],
            "circuits_closed": result.circuits_closed,
        },
    )
    measure_tool_monitoring(result)
