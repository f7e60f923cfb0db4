"""``/vector/conversations``."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from botforge.domain.ids import BotId, ConversationId
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.conversations import ConversationPage, ConversationWithMessages
from botforge.http.schemas.fields import Cursor, Limit
from botforge.services.conversations import ConversationService

After = Annotated[int, Query(ge=-1, le=2**31 - 1, description="Number of the last message that is known already.")]


def conversations_router(service: ConversationService) -> APIRouter:
    router = APIRouter(prefix="/vector/conversations", tags=["conversations"], responses=PROBLEMS)

    @router.get("")
    def list_conversations(
        bot_id: UUID, user: User, limit: Limit = 50, cursor: Cursor | None = None
    ) -> ConversationPage:
        return ConversationPage.model_validate(service.list(user, BotId(bot_id), limit=limit, cursor=cursor))

    @router.get("/{conversation_id}")
    def get_conversation(
        conversation_id: UUID, user: User, limit: Limit = 50, after: After = -1
    ) -> ConversationWithMessages:
        found, messages = service.read(user, ConversationId(conversation_id), after=after, limit=limit)
        return ConversationWithMessages.model_validate({**asdict(found), "messages": list(messages)})

    @router.delete("/{conversation_id}", status_code=204)
    def delete_conversation(conversation_id: UUID, user: User) -> Response:
        service.delete(user, ConversationId(conversation_id))
        return Response(status_code=204)

    return router
