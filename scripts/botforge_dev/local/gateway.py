"""API Gateway's HTTP API on a laptop: HTTP in, a version 2.0 event to the function, its reply out.

What it checks and limits is what the real one does (API Gateway Developer Guide, "Quotas for HTTP APIs" and "Working
with AWS Lambda proxy integrations"); its own errors are as short as the real one's.
"""

import asyncio
import base64
import queue
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as StarletteRoute

from botforge_dev.local.environments import Function, TimedOut
from botforge_dev.local.routes import Route
from botforge_dev.local.runtime_api import FunctionError
from botforge_dev.local.tokens import TokenIssuer

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_EVENT_BYTES = 6 * 1024 * 1024  # Lambda's for a synchronous invocation, of which the body is nearly all
MAX_HEADER_BYTES = 10_240
INTEGRATION_S = 30.0
_TEXT = ("text/", "application/json", "application/javascript", "application/xml")
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


@dataclass(frozen=True, slots=True)
class Gateway:
    routes: list[Route]
    functions: Mapping[str, Function]
    issuer: TokenIssuer
    pool: ThreadPoolExecutor

    def app(self) -> Starlette:
        return Starlette(routes=[StarletteRoute("/{path:path}", self.handle, methods=_METHODS)])

    async def handle(self, request: Request) -> Response:
        if sum(len(name) + len(value) for name, value in request.headers.raw) > MAX_HEADER_BYTES:
            return _message(431, "Request Header Fields Too Large")
        matched = self._match(request)
        if matched is None:
            return _message(404, "Not Found")
        route, parameters = matched
        claims = self._claims(request, route)
        if claims is None:
            return _message(401, "Unauthorized", {"www-authenticate": 'Bearer scope="" error="invalid_token"'})
        body = await _bounded_body(request)
        if body is None:
            return _message(413, "Request Entity Too Large")
        event = _event(request, route, parameters, claims, body)
        if len(event.get("body", "")) > MAX_EVENT_BYTES:
            return _message(413, "Request Entity Too Large")
        return await self._invoke(route, event)

    def _claims(self, request: Request, route: Route) -> Mapping[str, Any] | None:
        if not route.authorized:
            return {}
        return self.issuer.claims(request.headers.get("authorization"))

    def _match(self, request: Request) -> tuple[Route, dict[str, str]] | None:
        path = request.scope["raw_path"].decode("ascii").split("?", 1)[0]
        for route in self.routes:
            parameters = route.match(request.method, path)
            if parameters is not None:
                return route, parameters
        return None

    async def _invoke(self, route: Route, event: dict[str, Any]) -> Response:
        function = self.functions[route.function]
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self.pool, lambda: function.invoke(event, wait_s=INTEGRATION_S))
        try:
            reply = await asyncio.wait_for(work, INTEGRATION_S)
        except (TimeoutError, queue.Empty):
            return _message(503, "Service Unavailable")
        except (FunctionError, TimedOut):
            return _message(500, "Internal Server Error")
        return _response(reply)


def _event(
    request: Request, route: Route, parameters: Mapping[str, str], claims: Mapping[str, Any], body: bytes
) -> dict[str, Any]:
    """Payload format 2.0."""
    now = datetime.now(UTC)
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        if name != "cookie":
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    raw_path = request.scope["raw_path"].decode("ascii").split("?", 1)[0]
    context: dict[str, Any] = {
        "accountId": "000000000000",
        "apiId": "local",
        "domainName": request.headers.get("host", "localhost"),
        "domainPrefix": "local",
        "http": {
            "method": request.method,
            "path": raw_path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.client.host if request.client else "127.0.0.1",
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": route.key,
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(time.time() * 1000),
    }
    if route.authorized:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": raw_path,
        "rawQueryString": request.url.query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if "cookie" in request.headers:
        event["cookies"] = request.headers["cookie"].split("; ")
    if request.query_params:
        event["queryStringParameters"] = {
            name: ",".join(request.query_params.getlist(name)) for name in request.query_params
        }
    if parameters:
        event["pathParameters"] = dict(parameters)
    return event | _body(body, request.headers.get("content-type", ""))


def _body(body: bytes, content_type: str) -> dict[str, Any]:
    if not body:
        return {}
    if content_type.lower().startswith(_TEXT):
        try:
            return {"body": body.decode("utf-8"), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass  # what is no text after all travels like any other bytes
    return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}


async def _bounded_body(request: Request) -> bytes | None:
    body = bytearray()
    async for part in request.stream():
        body.extend(part)
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


def _response(reply: Any) -> Response:  # noqa: ANN401 - any JSON
    """A reply without ``statusCode`` is the body of a 200, as JSON; one that cannot be read is a 500."""
    if not isinstance(reply, dict) or "statusCode" not in reply:
        return JSONResponse(reply)
    given = cast("dict[str, Any]", reply)
    try:
        content = str(given.get("body") or "")
        body = base64.b64decode(content) if given.get("isBase64Encoded") else content.encode("utf-8")
        response = Response(body, status_code=int(given["statusCode"]))
        headers: dict[str, Any] = given.get("headers") or dict[str, Any]()
        cookies: list[str] = given.get("cookies") or list[str]()
        for name, value in headers.items():
            response.headers[name] = str(value)
        for cookie in cookies:
            response.headers.append("set-cookie", cookie)
    except (TypeError, ValueError, AttributeError):
        return _message(500, "Internal Server Error")
    return response


def _message(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"message": message}, status_code=status, headers=headers)
