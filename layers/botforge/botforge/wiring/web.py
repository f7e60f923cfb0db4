"""What every function behind the gateway shares: who asks, how long it may take, and the Lambda handler."""

from collections.abc import Callable, Iterable

from fastapi import APIRouter, Request

from botforge.domain.deadline import Deadline
from botforge.http.app import create_app
from botforge.http.gateway import Handler, lambda_handler
from botforge.http.principal import Principal, authorizer_principal, unverified_principal
from botforge.settings import GatewaySettings
from botforge.telemetry import instrumented, log_unforeseen

_REPLY_RESERVE_S = 1.0  # of Lambda's own time limit, to write the reply


def web_handler(routers: Iterable[APIRouter], settings: GatewaySettings) -> Handler:
    """The handler of a function whose application is made of ``routers``."""
    app = create_app(routers, _principal(settings), on_error=log_unforeseen)
    return instrumented(lambda_handler(app, on_error=log_unforeseen))


def request_deadline(settings: GatewaySettings) -> Callable[[Request], Deadline]:
    """Our own deadline, or Lambda's if that comes first."""

    def deadline(request: Request) -> Deadline:
        context = request.scope.get("aws.context")
        remaining_ms = getattr(context, "get_remaining_time_in_millis", None)
        seconds = settings.request_deadline_seconds
        if callable(remaining_ms):
            seconds = min(seconds, float(str(remaining_ms())) / 1000 - _REPLY_RESERVE_S)
        return Deadline.after(seconds)

    return deadline


def _principal(settings: GatewaySettings) -> Principal:
    return unverified_principal if settings.aws_sam_local else authorizer_principal
