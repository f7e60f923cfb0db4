"""Fields that many bodies share, with their bounds."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer


def _storable(text: str) -> str:
    """PostgreSQL stores no NUL, and nothing encodes a lone surrogate."""
    if "\x00" in text:
        raise ValueError("must not hold NUL characters")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, AfterValidator(_storable)]
VisibleText = Annotated[Text, AfterValidator(_visible)]
Name = Annotated[VisibleText, Field(min_length=1, max_length=200)]
Description = Annotated[Text, Field(max_length=4_000)]
ClientId = Annotated[VisibleText, Field(min_length=1, max_length=200)]
MaxChunks = Annotated[int, Field(ge=1, le=20, description="Passages given to an answer at the most.")]
SimilarityThreshold = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False, description="The least calibrated relevance that a passage needs."),
]
# The gateway takes one name for a place in a path, whatever the method makes of the id that stands there.
ById = Annotated[UUID, Path(alias="id")]
Limit = Annotated[int, Field(ge=1, le=100)]
Cursor = Annotated[str, Field(max_length=200)]
Moment = Annotated[datetime, PlainSerializer(lambda moment: moment.isoformat(), return_type=str)]


class RequestBody(BaseModel):
    """Unknown fields are refused: a misspelt one would be ignored in silence."""

    model_config = ConfigDict(extra="forbid", strict=False)


class ReplyBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Problem(ReplyBody):
    """RFC 9457."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    field: str | None = None
    next_step: str | None = None
    errors: list[dict[str, str]] | None = None
    request_id: str | None = None


class TenantBody(RequestBody):
    user_id: UUID
    bot_id: UUID
