"""A bot's tools and what was done with them: list, accept, disable; executions."""

from dataclasses import dataclass, replace
from datetime import datetime

from botforge.domain.errors import Conflict, NotFound
from botforge.domain.execution import Execution, ExecutionStatus
from botforge.domain.ids import BotId, ToolId, UserId
from botforge.domain.page import Page
from botforge.domain.tool import ServerTool, Tool, ToolStatus
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import Bots, Executions, ToolServers
from botforge.services.tool_embedding import tool_vectors


@dataclass(frozen=True, slots=True)
class ToolCatalogue:
    bots: Bots
    servers: ToolServers
    executions: Executions
    embedder: Embedder

    def of_bot(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[ServerTool]:
        self._check_bot(user_id, bot_id)
        return self.servers.tools(user_id, bot_id=bot_id, limit=limit, cursor=cursor)

    def of_user(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[ServerTool]:
        return self.servers.tools(user_id, bot_id=None, limit=limit, cursor=cursor)

    def accept(self, user_id: UserId, tool_id: ToolId, *, digest: str | None) -> ServerTool:
        """The definition that waits becomes the one that is used; without one, a disabled tool is used again.

        ``digest``: of the definition that the owner has seen. Raises Conflict if another one waits by now, or if the
        server no longer lists the tool.
        """
        row = self._owned(user_id, tool_id)
        tool = row.tool
        accepted = tool.pending or tool.definition
        if digest is not None and digest != accepted.digest:
            raise Conflict(
                "The definition has changed since.",
                code="definition_changed",
                field="digest",
                next_step="Look at the tool again, and accept what waits now.",
            )
        if tool.status is ToolStatus.WITHDRAWN:
            raise Conflict("The server no longer lists this tool.", code="tool_withdrawn", field="tool_id")
        (vector,) = tool_vectors(self.embedder, [accepted])
        changed = replace(tool, definition=accepted, pending=None, status=ToolStatus.ACTIVE)
        self.servers.save_tools(user_id, row.server.id, [changed], {tool.id: vector})
        return self._owned(user_id, tool_id)

    def disable(self, user_id: UserId, tool_id: ToolId) -> ServerTool:
        """The tool is not offered again before its owner accepts it, whatever its server says."""
        row = self._owned(user_id, tool_id)
        disabled: Tool = replace(row.tool, status=ToolStatus.DISABLED)
        self.servers.save_tools(user_id, row.server.id, [disabled], {})
        return self._owned(user_id, tool_id)

    def executions_of(
        self,
        user_id: UserId,
        bot_id: BotId,
        *,
        status: ExecutionStatus | None,
        tool_name: str | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Execution]:
        self._check_bot(user_id, bot_id)
        return self.executions.list(
            user_id,
            bot_id,
            status=status,
            tool_name=tool_name,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )

    def _check_bot(self, user_id: UserId, bot_id: BotId) -> None:
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")

    def _owned(self, user_id: UserId, tool_id: ToolId) -> ServerTool:
        row = self.servers.tool(user_id, tool_id)
        if row is None:
            raise NotFound("There is no such tool.", code="tool_not_found", field="tool_id")
        return row
