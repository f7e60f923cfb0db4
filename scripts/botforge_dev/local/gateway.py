"""API Gateway's HTTP API on a laptop: routes and authorizes requests, holds the limits, invokes functions.

Its limits are those of the API Gateway Developer Guide ("Quotas for HTTP APIs") and of AWS Lambda ("Lambda quotas");
its own errors are as short as the real one's.
"""

import asyncio
import json
import logging
import queue
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from botforge_dev.local.environments import Function, TimedOut
from botforge_dev.local.payload import MalformedReply, Matched, event_of, path_of, response_of
from botforge_dev.local.routes import Route
from botforge_dev.local.runtime_api import FunctionError
from botforge_dev.local.tokens import TokenIssuer

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_EVENT_BYTES = 6 * 1024 * 1024  # of a synchronous invocation
MAX_HEADER_BYTES = 10_240  # the request line and the values of all headers
INTEGRATION_S = 30.0
_log = logging.getLogger(__name__)


class Refused(Exception):
    """The gateway answers by itself."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.response = JSONResponse({"message": message}, status_code=status, headers=headers)


@dataclass(frozen=True, slots=True)
class Gateway:
    """An ASGI application."""

    routes: list[Route]
    functions: Mapping[str, Function]
    issuer: TokenIssuer
    pool: ThreadPoolExecutor
    integration_s: float = INTEGRATION_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        start = time.perf_counter()
        try:
            response = await self._answer(request)
        except Refused as refused:
            response = refused.response
        except ClientDisconnect:
            return
        await response(scope, receive, send)
        elapsed_ms = (time.perf_counter() - start) * 1000
        _log.info("%s %s → %d (%.0f ms)", request.method, path_of(request), response.status_code, elapsed_ms)

    async def _answer(self, request: Request) -> Response:
        _check_headers(request)
        route, parameters = self._route(request)
        claims = self._claims(request, route)
        body = await _bounded_body(request)
        event = event_of(request, Matched(route, parameters, claims), body)
        if len(json.dumps(event, ensure_ascii=False).encode()) > MAX_EVENT_BYTES:
            raise Refused(413, "Request Entity Too Large")
        try:
            return response_of(await self._invoke(self.functions[route.function], event))
        except (FunctionError, TimedOut, MalformedReply) as error:
            _log.warning("%s failed: %s", route.key, error)
            raise Refused(500, "Internal Server Error") from error

    def _route(self, request: Request) -> tuple[Route, dict[str, str]]:
        path = path_of(request)
        for route in self.routes:
            parameters = route.match(request.method, path)
            if parameters is not None:
                return route, parameters
        raise Refused(404, "Not Found")

    def _claims(self, request: Request, route: Route) -> Mapping[str, str]:
        if not route.authorized:
            return {}
        authorization = request.headers.get("authorization")
        claims = self.issuer.claims(authorization)
        if claims is None:
            how = 'Bearer scope="" error="invalid_token"' if authorization else "Bearer"
            raise Refused(401, "Unauthorized", {"www-authenticate": how})
        if route.scopes and not route.scopes & set(claims.get("scope", "").split()):
            raise Refused(403, "Forbidden")
        return claims

    async def _invoke(self, function: Function, event: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self.pool, lambda: function.invoke(event, wait_s=self.integration_s))
        try:
            return await asyncio.wait_for(work, self.integration_s)
        except (TimeoutError, queue.Empty) as error:
            raise Refused(503, "Service Unavailable") from error


def _check_headers(request: Request) -> None:
    line = f"{request.method} {path_of(request)}?{request.scope['query_string'].decode('latin-1')} HTTP/1.1"
    if len(line) + sum(len(value) for _, value in request.headers.raw) > MAX_HEADER_BYTES:
        raise Refused(431, "Request Header Fields Too Large")


async def _bounded_body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body.extend(part)
        if len(body) > MAX_BODY_BYTES:
            raise Refused(413, "Request Entity Too Large")
    return bytes(body)


def server_of(gateway: Gateway, port: int) -> uvicorn.Server:
    """An HTTP server on this port of 127.0.0.1 (0: a free one); ``run`` it."""
    config = uvicorn.Config(
        gateway,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 * 1024,  # so that the gateway can refuse long headers itself
    )
    return uvicorn.Server(config)
