"""Reading the gateway's event without trusting its shape."""

from typing import Any, cast

from fastapi import Request

JsonObject = dict[str, Any]


def as_object(value: object) -> JsonObject:
    """The value if it is an object; an empty one otherwise."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def request_context(request: Request) -> JsonObject:
    """``requestContext`` of the event behind a request; empty where there is no gateway."""
    return as_object(as_object(request.scope.get("aws.event")).get("requestContext"))


def request_id_of(request: Request) -> str | None:
    """The gateway's id of this request: the correlation id of everything that follows from it."""
    request_id = request_context(request).get("requestId")
    return request_id if isinstance(request_id, str) else None
