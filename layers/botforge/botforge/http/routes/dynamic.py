"""``/vector/query-dynamic``."""

from collections.abc import Callable

from fastapi import APIRouter, Request

from botforge.domain.deadline import Deadline
from botforge.http.event import request_id_of
from botforge.http.principal import User
from botforge.http.routes.questions import asked
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.dynamic import DynamicReply
from botforge.http.schemas.queries import QueryRequest
from botforge.services.dynamic import DynamicQueryService, DynamicResult


def dynamic_router(
    service: DynamicQueryService,
    *,
    deadline: Callable[[Request], Deadline],
    models: frozenset[str],
    on_result: Callable[[DynamicResult], None],
) -> APIRouter:
    """``models``: those that a request may name; ``on_result`` is told how each query went."""
    router = APIRouter(prefix="/vector", tags=["queries"], responses=PROBLEMS)

    @router.post("/query-dynamic")
    def query_dynamic(body: QueryRequest, user: User, request: Request) -> DynamicReply:
        """Decide what the message needs, and answer from the documents or act through the tools."""
        result = service.ask(asked(body, user, models), deadline(request))
        on_result(result)
        return DynamicReply.of(result, request_id_of(request))

    return router
