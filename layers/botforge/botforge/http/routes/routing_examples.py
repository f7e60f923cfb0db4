"""``/api/bots/{bot_id}/routing-examples``: sentences that teach a bot what they and their like mean."""

from uuid import UUID

from fastapi import APIRouter, Response

from botforge.domain.ids import BotId, RoutingExampleId
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.fields import Cursor, Limit
from botforge.http.schemas.routing_examples import (
    RoutingExampleChange,
    RoutingExampleCreation,
    RoutingExampleList,
    RoutingExamplePage,
    RoutingExampleReply,
)
from botforge.services.routing_examples import RoutingExampleService


def routing_examples_router(service: RoutingExampleService) -> APIRouter:
    router = APIRouter(prefix="/api/bots/{bot_id}/routing-examples", tags=["routing"], responses=PROBLEMS)

    @router.post("", status_code=201)
    def add_routing_examples(bot_id: UUID, body: RoutingExampleCreation, user: User) -> RoutingExampleList:
        """They count from the next query on. A sentence that the bot has already gets its new intent."""
        sentences = [(example.text, example.intent) for example in body.examples]
        saved = service.add(user, BotId(bot_id), sentences)
        return RoutingExampleList(items=[RoutingExampleReply.model_validate(example) for example in saved])

    @router.get("")
    def list_routing_examples(
        bot_id: UUID, user: User, limit: Limit = 50, cursor: Cursor | None = None
    ) -> RoutingExamplePage:
        return RoutingExamplePage.model_validate(service.list(user, BotId(bot_id), limit=limit, cursor=cursor))

    @router.get("/{example_id}")
    def get_routing_example(bot_id: UUID, example_id: UUID, user: User) -> RoutingExampleReply:
        return RoutingExampleReply.model_validate(service.get(user, BotId(bot_id), RoutingExampleId(example_id)))

    @router.patch("/{example_id}")
    def change_routing_example(
        bot_id: UUID, example_id: UUID, body: RoutingExampleChange, user: User
    ) -> RoutingExampleReply:
        changed = service.change(user, BotId(bot_id), RoutingExampleId(example_id), text=body.text, intent=body.intent)
        return RoutingExampleReply.model_validate(changed)

    @router.delete("/{example_id}", status_code=204)
    def delete_routing_example(bot_id: UUID, example_id: UUID, user: User) -> Response:
        service.delete(user, BotId(bot_id), RoutingExampleId(example_id))
        return Response(status_code=204)

    return router
