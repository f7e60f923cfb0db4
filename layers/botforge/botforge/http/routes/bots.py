"""``/api/bots``."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response

from botforge.domain.ids import BotId
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.bots import BotChange, BotCreation, BotPage, BotReply
from botforge.http.schemas.fields import Cursor, Limit
from botforge.services.bots import BotChanges, BotService


def bots_router(service: BotService) -> APIRouter:
    router = APIRouter(prefix="/api/bots", tags=["bots"], responses=PROBLEMS)

    @router.post("", status_code=201)
    def create_bot(body: BotCreation, user: User) -> BotReply:
        changes = BotChanges(
            description=body.description,
            is_active=body.is_active,
            max_chunks=body.max_chunks,
            similarity_threshold=body.similarity_threshold,
        )
        return BotReply.model_validate(service.create(user, body.name, changes))

    @router.get("")
    def list_bots(user: User, limit: Limit = 50, cursor: Cursor | None = None) -> BotPage:
        return BotPage.model_validate(service.list(user, limit=limit, cursor=cursor))

    @router.get("/{bot_id}")
    def get_bot(bot_id: UUID, user: User) -> BotReply:
        return BotReply.model_validate(service.get(user, BotId(bot_id)))

    @router.patch("/{bot_id}")
    def change_bot(bot_id: UUID, body: BotChange, user: User) -> BotReply:
        changes: dict[str, Any] = body.model_dump()
        return BotReply.model_validate(service.change(user, BotId(bot_id), BotChanges(**changes)))

    @router.delete("/{bot_id}", status_code=204)
    def delete_bot(bot_id: UUID, user: User) -> Response:
        service.delete(user, BotId(bot_id))
        return Response(status_code=204)

    return router
