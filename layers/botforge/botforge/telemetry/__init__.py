"""Logs, metrics and the one id that joins them.

Logs are JSON, one object a line, with the correlation id of the request; metrics are CloudWatch's embedded metric
format, one object an invocation. No secret, and no text of a document or a question, is ever in either. Ids are
fields of logs, never dimensions of metrics: every distinct dimension is a metric that is paid for.
"""

from botforge.telemetry.invocation import InvocationFailed, instrumented
from botforge.telemetry.logs import log_failed_message, log_unforeseen, logger
from botforge.telemetry.records import (
    record_ingestion,
    record_monitoring,
    record_query,
    record_tool_monitoring,
    record_tool_uses,
)
from botforge.telemetry.redaction import conceal

__all__ = [
    "InvocationFailed",
    "conceal",
    "instrumented",
    "log_failed_message",
    "log_unforeseen",
    "logger",
    "record_ingestion",
    "record_monitoring",
    "record_query",
    "record_tool_monitoring",
    "record_tool_uses",
]
