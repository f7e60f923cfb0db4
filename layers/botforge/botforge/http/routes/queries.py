"""``/vector``."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId
from botforge.http.event import request_id_of
from botforge.http.principal import User, must_be
from botforge.http.routes.questions import asked
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.queries import QueryReply, QueryRequest, StatisticsReply
from botforge.services.query import QueryResult, QueryService
from botforge.services.statistics import StatisticsService

Window = Annotated[int, Query(ge=1, le=24 * 90, description="Hours to look back.")]


def queries_router(
    service: QueryService,
    statistics: StatisticsService,
    *,
    deadline: Callable[[Request], Deadline],
    models: frozenset[str],
    on_result: Callable[[QueryResult], None],
) -> APIRouter:
    """``models``: those that a request may name; ``on_result`` is told how each query went."""
    router = APIRouter(prefix="/vector", tags=["queries"], responses=PROBLEMS)

    @router.post("/query")
    def query(body: QueryRequest, user: User, request: Request) -> QueryReply:
        """Answer from the bot's documents, whatever the message's intent."""
        result = service.ask(asked(body, user, models), deadline(request))
        on_result(result)
        return QueryReply.of(result, request_id_of(request))

    @router.get("/stats/{user_id}/{bot_id}")
    def stats(user_id: UUID, bot_id: UUID, user: User, window_hours: Window = 24) -> StatisticsReply:
        must_be(user_id, user)
        summed = statistics.of_bot(user, BotId(bot_id), window=timedelta(hours=window_hours))
        return StatisticsReply.of(user, bot_id, summed)

    return router
