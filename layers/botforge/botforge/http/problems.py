"""Every error as a problem document (RFC 9457, ``application/problem+json``).

Members: ``type`` (always ``about:blank``), ``title`` (of the status), ``status``, ``code`` (stable, for programs),
``detail`` (for people), ``request_id``; and where they apply ``field``, ``next_step`` and ``errors`` (one entry for
each field that is wrong). What the client sent is never echoed: it may be secret, huge, or not even encodable.
"""

import json
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from botforge.domain.errors import BotForgeError, Unavailable
from botforge.http.event import request_id_of

MEDIA_TYPE = "application/problem+json"
_MAX_ERRORS = 20
_RETRY_AFTER_S = "5"


def problem(
    status: int,
    code: str,
    detail: str,
    request_id: str | None,
    *,
    field: str | None = None,
    next_step: str | None = None,
    errors: Sequence[dict[str, str]] = (),
) -> dict[str, Any]:
    """The document as a dict; members that do not apply are left out."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "field": field,
        "next_step": next_step,
        "errors": list(errors) or None,
        "request_id": request_id,
    }
    return {name: value for name, value in document.items() if value is not None}


def of_error(error: BotForgeError, request_id: str | None) -> dict[str, Any]:
    return problem(error.status, error.code, error.message, request_id, field=error.field, next_step=error.next_step)


def install(app: FastAPI, on_error: Callable[[BaseException], None]) -> None:
    """Make every error that leaves ``app`` a problem document; ``on_error`` is told of those that nobody foresaw."""

    async def on_unforeseen(request: Request, error: Exception) -> Response:
        on_error(error)
        return _response(unforeseen(request_id_of(request)))

    app.add_exception_handler(Exception, on_unforeseen)
    app.add_exception_handler(BotForgeError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


def unforeseen(request_id: str | None) -> dict[str, Any]:
    return problem(
        500,
        "internal_error",
        "Something went wrong on our side.",
        request_id,
        next_step="Try again; if it happens again, tell us the request_id.",
    )


async def _on_our_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, BotForgeError)  # noqa: S101 - registered for nothing else
    response = _response(of_error(error, request_id_of(request)))
    if isinstance(error, Unavailable):
        response.headers["retry-after"] = _RETRY_AFTER_S
    return response


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    request_id = request_id_of(request)
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return _response(
            problem(
                400,
                "invalid_json",
                "The body is not valid JSON.",
                request_id,
                next_step="Send a JSON object, encoded as UTF-8.",
            )
        )
    errors = [
        {"field": ".".join(_location(detail["loc"])) or "body", "code": detail["type"], "detail": detail["msg"]}
        for detail in details[:_MAX_ERRORS]
    ]
    return _response(
        problem(
            422,
            "invalid_request",
            f"{errors[0]['field']}: {errors[0]['detail']}",
            request_id,
            field=errors[0]["field"],
            next_step="Mend the fields listed under errors.",
            errors=errors,
        )
    )


def _location(location: Sequence[int | str]) -> list[str]:
    """Where the field is, without the part of the request that FastAPI puts first (body, query, path, header)."""
    return [str(part).encode("utf-8", "replace").decode("utf-8")[:100] for part in location[1:]]


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_").replace("-", "_")
    response = _response(problem(error.status_code, code, str(error.detail), request_id_of(request)))
    response.headers.update(error.headers or {})
    return response


def _response(document: dict[str, Any]) -> Response:
    return Response(json.dumps(document, allow_nan=False), status_code=document["status"], media_type=MEDIA_TYPE)
