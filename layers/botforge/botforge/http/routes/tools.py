"""``/api/mcp/tools`` and ``/api/mcp/executions``."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from botforge.domain.execution import ExecutionStatus
from botforge.domain.ids import BotId, ToolId
from botforge.domain.page import Page
from botforge.domain.tool import ServerTool, ToolStatus
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.fields import ById, Cursor
from botforge.http.schemas.tool_servers import ToolName
from botforge.http.schemas.tools import (
    ExecutionLimit,
    ExecutionPage,
    ExecutionReply,
    ToolChange,
    ToolLimit,
    ToolPage,
    ToolReply,
)
from botforge.services.tool_catalogue import ToolCatalogue


def tools_router(catalogue: ToolCatalogue) -> APIRouter:
    router = APIRouter(prefix="/api/mcp", tags=["tools"], responses=PROBLEMS)

    @router.get("/tools")
    def list_own_tools(user: User, limit: ToolLimit = 25, cursor: Cursor | None = None) -> ToolPage:
        """The tools of all of the caller's bots."""
        return _tool_page(catalogue.of_user(user, limit=limit, cursor=cursor))

    @router.get("/tools/{id}")
    def list_tools(bot_id: ById, user: User, limit: ToolLimit = 25, cursor: Cursor | None = None) -> ToolPage:
        return _tool_page(catalogue.of_bot(user, BotId(bot_id), limit=limit, cursor=cursor))

    @router.patch("/tools/{id}")
    def change_tool(tool_id: ById, body: ToolChange, user: User) -> ToolReply:
        """Accept the definition that waits, or take the tool out of use."""
        if body.status is ToolStatus.ACTIVE:
            return ToolReply.of(catalogue.accept(user, ToolId(tool_id), digest=body.digest))
        return ToolReply.of(catalogue.disable(user, ToolId(tool_id)))

    @router.get("/executions/{bot_id}")
    def list_executions(
        bot_id: UUID,
        user: User,
        status: Annotated[ExecutionStatus | None, Query()] = None,
        tool: Annotated[ToolName | None, Query(description="The tool's name.")] = None,
        since: Annotated[AwareDatetime | None, Query()] = None,
        until: Annotated[AwareDatetime | None, Query(description="Exclusive.")] = None,
        limit: ExecutionLimit = 20,
        cursor: Cursor | None = None,
    ) -> ExecutionPage:
        """What was done, the latest first: every call has a row, whatever became of it."""
        page = catalogue.executions_of(
            user,
            BotId(bot_id),
            status=status,
            tool_name=tool,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
        return ExecutionPage(items=[ExecutionReply.of(row) for row in page.items], next_cursor=page.next_cursor)

    return router


def _tool_page(page: Page[ServerTool]) -> ToolPage:
    return ToolPage(items=[ToolReply.of(row) for row in page.items], next_cursor=page.next_cursor)
