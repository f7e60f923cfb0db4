"""Bodies of ``/api/bots/{bot_id}/routing-examples``."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from botforge.domain.query import Intent
from botforge.domain.routing_example import MAX_EXAMPLE_CHARACTERS
from botforge.http.schemas.fields import Moment, ReplyBody, RequestBody, VisibleText

_MAX_AT_ONCE = 50  # each is embedded before the request ends

Sentence = Annotated[VisibleText, Field(min_length=1, max_length=MAX_EXAMPLE_CHARACTERS)]


class RoutingExampleEntry(RequestBody):
    text: Sentence
    intent: Intent


class RoutingExampleCreation(RequestBody):
    examples: Annotated[list[RoutingExampleEntry], Field(min_length=1, max_length=_MAX_AT_ONCE)]


class RoutingExampleChange(RequestBody):
    text: Sentence | None = None
    intent: Intent | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.text is None and self.intent is None:
            raise ValueError("give text or intent")
        return self


class RoutingExampleReply(ReplyBody):
    id: UUID
    bot_id: UUID
    text: str
    intent: Intent
    created_at: Moment
    updated_at: Moment


class RoutingExampleList(ReplyBody):
    items: list[RoutingExampleReply]


class RoutingExamplePage(RoutingExampleList):
    next_cursor: str | None
