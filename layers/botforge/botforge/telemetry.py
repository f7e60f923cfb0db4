"""Logs, metrics and the one id that joins them: structured JSON and CloudWatch's embedded metric format.

No text of a document or a question, and no secret, is ever logged; ids are fields of logs, never dimensions of
metrics (every distinct dimension is a metric that is paid for).
"""

import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from botforge.domain.ingestion import IngestionResult
from botforge.domain.query import QueryRecord, QueryStatus
from botforge.services.monitoring import MonitoringResult

# An invocation without metrics is no fault; the warning would be a line of log that is not JSON.
warnings.filterwarnings("ignore", message="No application metrics to publish")

logger = Logger(use_rfc3339=True, utc=True)
metrics = Metrics()

Handler = Callable[[Any, Any], Any]


def instrumented(handler: Handler) -> Handler:
    """Wrap a Lambda handler: context on every log line, metrics flushed after every invocation."""

    @logger.inject_lambda_context(clear_state=True)
    @metrics.log_metrics(capture_cold_start_metric=True)
    def handle(event: Any, context: Any) -> Any:  # noqa: ANN401 - Lambda's
        logger.set_correlation_id(_request_id(event) or context.aws_request_id)
        return handler(event, context)

    return handle


def record_query(record: QueryRecord) -> None:
    logger.info(
        "query",
        extra={
            "bot_id": str(record.query.bot_id),
            "query_id": str(record.query.id),
            "status": record.status,
            "stage_ms": record.stage_ms,
            "latency_ms": record.latency_ms,
            "sources": record.sources,
            "degraded": dict(record.degraded),
        },
    )
    metrics.add_metric("QueryLatency", MetricUnit.Milliseconds, record.latency_ms)
    for stage, duration in record.stage_ms.items():
        metrics.add_metric(f"QueryLatency.{stage}", MetricUnit.Milliseconds, duration)
    if record.best_relevance is not None:
        metrics.add_metric("Relevance", MetricUnit.NoUnit, record.best_relevance)
    metrics.add_metric("Abstentions", MetricUnit.Count, int(record.status is QueryStatus.ABSTAINED))
    metrics.add_metric("DegradedAnswers", MetricUnit.Count, int(bool(record.degraded)))


def record_ingestion(result: IngestionResult) -> None:
    if result.correlation_id:
        logger.set_correlation_id(result.correlation_id)
    logger.info(
        "document",
        extra={
            "document_id": str(result.document_id),
            "outcome": result.outcome,
            "reason": result.reason,
            "chunks": result.chunks,
            "truncated": result.truncated,
            "lag_seconds": result.lag_seconds,
        },
    )
    metrics.add_metric(f"Documents.{result.outcome}", MetricUnit.Count, 1)
    metrics.add_metric("Chunks", MetricUnit.Count, result.chunks)
    if result.lag_seconds is not None:
        metrics.add_metric("IngestionLag", MetricUnit.Seconds, result.lag_seconds)


def record_monitoring(result: MonitoringResult) -> None:
    logger.info("monitoring", extra=asdict(result))
    for name, count in asdict(result).items():
        metrics.add_metric(f"Monitoring.{name}", MetricUnit.Count, count)


def log_unforeseen(error: BaseException) -> None:
    logger.error("unforeseen", exc_info=error)
    metrics.add_metric("UnforeseenErrors", MetricUnit.Count, 1)


def log_failed_message(message: Any, error: Exception) -> None:  # noqa: ANN401
    logger.warning(
        "message failed", extra={"message_id": message.id, "receive_count": message.receive_count}, exc_info=error
    )


def _request_id(event: Any) -> str | None:  # noqa: ANN401 - Lambda's
    context = event.get("requestContext") if isinstance(event, dict) else None
    return context.get("requestId") if isinstance(context, dict) else None
