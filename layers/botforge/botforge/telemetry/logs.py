"""The logger: JSON on stdout, through which every line of ours and, on Lambda, of every library goes."""

import logging
import os
from typing import Any, Protocol

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from botforge.telemetry.measures import count
from botforge.telemetry.redaction import conceal_environment, described, redacted

SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME") or "botforge"


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON, redacted as a whole right before it is written."""

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802 - logging's name, and its odd tuple
        return described(ei[1])

    def serialize(self, log: Any) -> str:  # noqa: ANN401 - a mapping of whatever was logged
        entry = {name: value for name, value in log.items() if name != "exception_notes"}
        # What UTF-8 cannot hold would raise where the line is written, and the line would be lost.
        return super().serialize(redacted(entry)).encode("utf-8", "backslashreplace").decode("utf-8")


class FailedMessage(Protocol):
    """A message from a queue, as far as a log needs it."""

    @property
    def id(self) -> str: ...

    @property
    def receive_count(self) -> int: ...


def create_logger(service: str) -> Logger:
    formatter = RedactingFormatter(use_rfc3339=True, utc=True, serialize_stacktrace=False)
    created = Logger(service=service, logger_formatter=formatter)
    handler, level = created.registered_handler, created.log_level
    logging.getLogger(created.name).propagate = False
    if "AWS_LAMBDA_RUNTIME_API" in os.environ:
        # The runtime's own handler on the root logger would print what libraries log, just as they log it.
        logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    else:
        logging.getLogger("botforge").addHandler(handler)
    logging.getLogger("botforge").setLevel(level)
    return created


conceal_environment(os.environ)
logger = create_logger(SERVICE)


def log_unforeseen(error: BaseException) -> None:
    """Note an exception that nobody foresaw; whoever asked sees no more than the request's id."""
    logger.error("unforeseen", exc_info=error)
    count("UnforeseenErrors")


def log_failed_message(message: FailedMessage, error: Exception) -> None:
    """Note that a message goes back to its queue."""
    logger.warning(
        "message failed", extra={"message_id": message.id, "receive_count": message.receive_count}, exc_info=error
    )
    count("FailedMessages")
