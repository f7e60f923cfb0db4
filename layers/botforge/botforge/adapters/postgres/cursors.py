"""Opaque cursors for lists that are ordered by creation, newest first."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from botforge.domain.errors import InvalidRequest
from botforge.domain.page import Page

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Position:
    """The last row of a page: where the next one begins."""

    created_at: datetime
    id: UUID


def decode(cursor: str | None) -> Position | None:
    """Raises InvalidRequest for a cursor that we did not issue."""
    if cursor is None:
        return None
    try:
        moment, _, identifier = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii").partition(" ")
        position = Position(datetime.fromisoformat(moment), UUID(identifier))
    except (ValueError, binascii.Error) as error:
        raise InvalidRequest(
            "The cursor is not one of ours.",
            code="invalid_cursor",
            field="cursor",
            next_step="Pass next_cursor of the previous page unchanged, or leave it out to begin again.",
        ) from error
    if position.created_at.tzinfo is None:
        raise InvalidRequest("The cursor is not one of ours.", code="invalid_cursor", field="cursor")
    return position


def page(rows: Sequence[Item], limit: int, position: Callable[[Item], Position]) -> Page[Item]:
    """Make a page of ``limit`` items from the ``limit + 1`` rows that were asked for."""
    if len(rows) <= limit:
        return Page(rows, None)
    last = position(rows[limit - 1])
    text = f"{last.created_at.isoformat()} {last.id}"
    return Page(rows[:limit], base64.urlsafe_b64encode(text.encode("ascii")).decode("ascii"))
