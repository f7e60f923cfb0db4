"""Bodies of ``/api/bots``."""

from uuid import UUID

from botforge.http.schemas.fields import (
    Description,
    MaxChunks,
    Moment,
    Name,
    ReplyBody,
    RequestBody,
    SimilarityThreshold,
)


class BotCreation(RequestBody):
    name: Name
    description: Description = ""
    is_active: bool = True
    max_chunks: MaxChunks | None = None
    similarity_threshold: SimilarityThreshold | None = None


class BotChange(RequestBody):
    name: Name | None = None
    description: Description | None = None
    is_active: bool | None = None
    max_chunks: MaxChunks | None = None
    similarity_threshold: SimilarityThreshold | None = None


class BotReply(ReplyBody):
    id: UUID
    user_id: UUID
    name: str
    description: str
    is_active: bool
    max_chunks: int
    similarity_threshold: float
    created_at: Moment
    updated_at: Moment


class BotPage(ReplyBody):
    items: list[BotReply]
    next_cursor: str | None
