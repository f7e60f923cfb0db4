"""What every Lambda handler is wrapped in."""

import re
from collections.abc import Callable
from typing import Any, cast

from botforge.telemetry.logs import log_unforeseen, logger
from botforge.telemetry.measures import flush

Handler = Callable[[Any, Any], Any]

_CORRELATION_ID = re.compile(r"[\x21-\x7e]{1,128}")

_first_invocation = True


class InvocationFailed(Exception):
    """What the Lambda runtime is told, and prints: the kind of error. The log has told the rest, redacted."""


def instrumented(handler: Handler) -> Handler:
    """Wrap a handler: Lambda's context and a correlation id on every line, metrics written after every invocation.

    The id is the gateway's request id where there is one, else Lambda's. Raises InvocationFailed for whatever the
    handler raises, so that SQS and schedules still see a failure.
    """

    # log_event is said outright: the environment could otherwise switch it on, and events hold questions.
    @logger.inject_lambda_context(clear_state=True, log_event=False)
    def handle(event: Any, context: Any) -> Any:  # noqa: ANN401 - Lambda's
        global _first_invocation
        cold_start, _first_invocation = _first_invocation, False
        logger.set_correlation_id(_request_id(event) or context.aws_request_id)
        try:
            return handler(event, context)
        except Exception as error:  # noqa: BLE001 - it is raised again, as a failure without its text
            log_unforeseen(error)
            raise InvocationFailed(type(error).__name__) from None
        finally:
            flush(cold_start=cold_start)

    return handle


def _request_id(event: object) -> str | None:
    context: object = cast("dict[str, object]", event).get("requestContext") if isinstance(event, dict) else None
    request_id: object = cast("dict[str, object]", context).get("requestId") if isinstance(context, dict) else None
    return request_id if isinstance(request_id, str) and _CORRELATION_ID.fullmatch(request_id) else None
