"""Bodies of ``/vector/conversations``."""

from uuid import UUID

from botforge.domain.conversation import Role
from botforge.http.schemas.fields import Moment, ReplyBody


class ConversationReply(ReplyBody):
    id: UUID
    bot_id: UUID
    client_id: str
    created_at: Moment
    updated_at: Moment


class ConversationPage(ReplyBody):
    items: list[ConversationReply]
    next_cursor: str | None


class MessageReply(ReplyBody):
    number: int  # from 0
    role: Role
    text: str
    created_at: Moment


class ConversationWithMessages(ConversationReply):
    messages: list[MessageReply]  # the first of those that were asked for; more follow the last one's number
