"""``/vector/mcp-query``."""

from collections.abc import Callable

from fastapi import APIRouter, Request

from botforge.domain.deadline import Deadline
from botforge.http.event import request_id_of
from botforge.http.principal import User
from botforge.http.routes.questions import asked
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.agent import AgentReply
from botforge.http.schemas.queries import QueryRequest
from botforge.services.agent_query import AgentQueryService, AgentResult


def agent_router(
    service: AgentQueryService,
    *,
    deadline: Callable[[Request], Deadline],
    models: frozenset[str],
    on_result: Callable[[AgentResult], None],
) -> APIRouter:
    """``models``: those that a request may name; ``on_result`` is told how each query went."""
    router = APIRouter(prefix="/vector", tags=["queries"], responses=PROBLEMS)

    @router.post("/mcp-query")
    def mcp_query(body: QueryRequest, user: User, request: Request) -> AgentReply:
        """Act through the bot's registered tools, whatever the message's intent."""
        result = service.ask(asked(body, user, models), deadline(request))
        on_result(result)
        return AgentReply.of(result, request_id_of(request))

    return router
