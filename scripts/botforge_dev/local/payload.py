"""API Gateway's payload format 2.0: an HTTP request as an event, a function's reply as an HTTP response.

Source: API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs in API Gateway".
"""

import base64
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request
from starlette.responses import Response

from botforge_dev.local.routes import Route

_TEXT = ("text/", "application/json", "application/javascript", "application/xml")
_GATEWAYS_OWN = frozenset({"content-length", "transfer-encoding", "connection", "keep-alive"})
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class MalformedReply(ValueError):
    """A function's reply that no HTTP response can be made of."""


@dataclass(frozen=True, slots=True)
class Matched:
    """A request that has found its route and passed its authorizer."""

    route: Route
    parameters: Mapping[str, str]
    claims: Mapping[str, str]  # empty on an open route


def path_of(request: Request) -> str:
    """The path as it was sent, still percent-encoded."""
    return request.scope["raw_path"].decode("latin-1").split("?", 1)[0]


def event_of(request: Request, matched: Matched, body: bytes) -> dict[str, Any]:
    query = request.scope["query_string"].decode("latin-1")
    headers, cookies = _headers_and_cookies(request)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": matched.route.key,
        "rawPath": unquote(path_of(request)),  # despite its name the real one arrives decoded too
        "rawQueryString": query,
        "headers": headers,
        "requestContext": _context(request, matched),
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if query:
        parameters: dict[str, str] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
        event["queryStringParameters"] = parameters
    if matched.parameters:
        event["pathParameters"] = dict(matched.parameters)
    return event | _body(body, request.headers.get("content-type", ""))


def _headers_and_cookies(request: Request) -> tuple[dict[str, str], list[str]]:
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in request.headers.items():
        if name == "cookie":
            cookies += value.split("; ")
        else:
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers, cookies


def _context(request: Request, matched: Matched) -> dict[str, Any]:
    context: dict[str, Any] = {
        "accountId": "000000000000",
        "apiId": "local",
        "domainName": request.headers.get("host", "localhost"),
        "domainPrefix": "local",
        "http": {
            "method": request.method,
            "path": unquote(path_of(request)),
            "protocol": "HTTP/1.1",
            "sourceIp": request.client.host if request.client else "127.0.0.1",
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": matched.route.key,
        "stage": "$default",
        "time": datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(time.time() * 1000),
    }
    if matched.route.authorized:
        context["authorizer"] = {
            "jwt": {"claims": dict(matched.claims), "scopes": sorted(matched.route.scopes) or None}
        }
    return context


def _body(body: bytes, content_type: str) -> dict[str, Any]:
    if not body:
        return {}
    if content_type.lower().startswith(_TEXT):
        try:
            return {"body": body.decode("utf-8"), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass  # what is no text after all travels like any other bytes
    return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}


def response_of(reply: Any) -> Response:  # noqa: ANN401 - any JSON
    """A reply without ``statusCode`` is the body of a 200, as JSON. Raises MalformedReply."""
    if not isinstance(reply, dict) or "statusCode" not in reply:
        return Response(json.dumps(reply), media_type="application/json")
    given = cast("dict[str, Any]", reply)
    try:
        status = int(given["statusCode"])
        if not HTTPStatus.OK <= status < 600:
            raise MalformedReply(f"{status} is no status of a response")
        response = Response(b"" if status in _BODILESS else _content(given), status_code=status)
        for name, value in (given.get("headers") or dict[str, Any]()).items():
            if name.lower() not in _GATEWAYS_OWN:
                response.headers[name] = _header(value)
        for cookie in given.get("cookies") or list[str]():
            response.headers.append("set-cookie", _header(cookie))
    except (TypeError, ValueError, AttributeError) as error:
        raise MalformedReply(str(error)) from error
    return response


def _content(reply: Mapping[str, Any]) -> bytes:
    content = reply.get("body") or ""
    if not isinstance(content, str):
        raise MalformedReply("the body is not a string")
    return base64.b64decode(content, validate=True) if reply.get("isBase64Encoded") else content.encode("utf-8")


def _header(value: Any) -> str:  # noqa: ANN401 - any JSON
    text = value if isinstance(value, str) else json.dumps(value)
    if not isinstance(value, str | int | float) or any(character in text for character in "\r\n\0"):
        raise MalformedReply("a header's value is no line of text")
    return text
