"""Who is asking: the subject of the token that the gateway's authorizer has checked."""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from botforge.domain.errors import BotForgeError, NotFound
from botforge.domain.ids import UserId
from botforge.http.event import JsonObject, as_object, request_context

Principal = Callable[[Request], UserId]


def current_user(request: Request) -> UserId:
    """The user of this request, as the application's principal tells it."""
    principal: Principal = request.app.state.principal
    return principal(request)


User = Annotated[UserId, Depends(current_user)]


class Unauthenticated(BotForgeError):
    """No authorizer vouches for a user."""

    status = 401
    code = "unauthenticated"
    next_step = "Send Authorization: Bearer with a token of the configured issuer."


def authorizer_principal(request: Request) -> UserId:
    """The ``sub`` claim of the JWT authorizer. Raises Unauthenticated."""
    authorizer = as_object(request_context(request).get("authorizer"))
    return _user_of(as_object(as_object(authorizer.get("jwt")).get("claims")))


def unverified_principal(request: Request) -> UserId:
    """The ``sub`` claim of the bearer token, believed without a check.

    For ``sam local`` alone, which runs no JWT authorizer; wiring chooses it only where SAM says that it is running.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        payload = token.split(".")[1] if scheme.lower() == "bearer" else ""
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error) as error:
        raise Unauthenticated("There is no bearer token that could be read.") from error
    return _user_of(as_object(claims))


def must_be(user_id: UUID, principal: UserId) -> None:
    """The user named in a body or path must be the token's; anybody else looks unknown."""
    if user_id != principal:
        raise NotFound("There is no such user.", code="user_not_found", field="user_id")


def _user_of(claims: JsonObject) -> UserId:
    try:
        return UserId(UUID(str(claims["sub"])))
    except (KeyError, ValueError) as error:
        raise Unauthenticated("The token names no user.") from error
