"""API Gateway's event in, its reply out, and a problem document whatever the event holds.

Mangum turns the event into an ASGI call. Some events make it raise before the application sees them (a body that is
not base64, a ``Host`` that does not split in two, text that cannot be encoded); those are answered here.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from mangum import Mangum
from mangum.types import LambdaContext

from botforge.http.event import JsonObject, as_object
from botforge.http.problems import MEDIA_TYPE, problem, unforeseen

MAX_BODY_BYTES = 4 * 1024 * 1024 + 64 * 1024  # a 4 MB file and the multipart form around it
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?")
_PORT = re.compile(r"\d{1,5}")

Reply = dict[str, Any]
Handler = Callable[[Any, Any], Reply]


class BadEvent(Exception):
    """An event that no HTTP request could be made of: a status, a code and a sentence."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


def lambda_handler(app: FastAPI, on_error: Callable[[BaseException], None]) -> Handler:
    """A Lambda handler for ``app``. ``on_error`` is told of every exception that nobody foresaw."""
    # lifespan="off": start-up would run on every invocation. Text stays text: problem documents are not base64.
    adapter = Mangum(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])

    def handle(event: object, context: LambdaContext) -> Reply:
        request_id = _request_id(event)
        try:
            return adapter(checked(event), context)
        except BadEvent as error:
            return _reply(problem(error.status, error.code, error.detail, request_id))
        except Exception as error:  # noqa: BLE001 - the last line before a bare 500 of the gateway's own
            on_error(error)
            return _reply(unforeseen(request_id))

    return handle


def checked(event: object) -> JsonObject:
    """The event, fit for Mangum: a copy whose headers it can read. Raises BadEvent."""
    given = as_object(event)
    request = as_object(as_object(given.get("requestContext")).get("http"))
    if given.get("version") != "2.0" or not request:
        raise BadEvent(400, "invalid_event", "This function answers events of API Gateway's HTTP API (format 2.0).")
    headers = {str(name).lower(): str(value) for name, value in as_object(given.get("headers")).items()}
    if not _HOST.fullmatch(headers.get("host", "localhost")):
        headers["host"] = "localhost"
    if not _PORT.fullmatch(headers.get("x-forwarded-port", "443")):
        del headers["x-forwarded-port"]
    query = str(given.get("rawQueryString") or "")
    _encodable(query, str(request.get("path")), *headers, *headers.values())
    return {**given, "headers": headers, "rawQueryString": query, "cookies": given.get("cookies") or [], **_body(given)}


def _body(event: JsonObject) -> JsonObject:
    body = event.get("body") or ""
    if not isinstance(body, str):
        raise BadEvent(400, "invalid_event", "The event's body is not a string.")
    if not event.get("isBase64Encoded"):
        _encodable(body)
        _bounded(len(body.encode("utf-8")))
        return {"body": body, "isBase64Encoded": False}
    try:
        _bounded(len(base64.b64decode(body, validate=True)))
    except (binascii.Error, ValueError) as error:
        raise BadEvent(400, "invalid_encoding", "The body is not valid base64.") from error
    return {"body": body, "isBase64Encoded": True}


def _bounded(size: int) -> None:
    if size > MAX_BODY_BYTES:
        raise BadEvent(413, "payload_too_large", f"A request may have at most {MAX_BODY_BYTES} bytes.")


def _encodable(*texts: str) -> None:
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadEvent(400, "invalid_text", "The request holds text that is not valid Unicode.") from error


def _request_id(event: object) -> str | None:
    request_id = as_object(as_object(event).get("requestContext")).get("requestId")
    return request_id if isinstance(request_id, str) else None


def _reply(document: dict[str, Any]) -> Reply:
    return {
        "statusCode": document["status"],
        "headers": {"content-type": MEDIA_TYPE},
        "body": json.dumps(document),
        "isBase64Encoded": False,
    }
