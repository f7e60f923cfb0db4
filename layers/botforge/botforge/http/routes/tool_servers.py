"""``/api/mcp/register`` and ``/api/mcp/servers``."""

from collections.abc import Callable
from uuid import UUID

from fastapi import APIRouter, Request, Response

from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ToolServerId
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.schemas.fields import ById, Cursor, Limit
from botforge.http.schemas.tool_servers import (
    RegisteredServerReply,
    ServerChange,
    ServerPage,
    ServerRegistration,
    ServerReply,
)
from botforge.services.registration import RegistrationService


def tool_servers_router(registration: RegistrationService, *, deadline: Callable[[Request], Deadline]) -> APIRouter:
    router = APIRouter(prefix="/api/mcp", tags=["tools"], responses=PROBLEMS)

    @router.post("/register", status_code=201)
    def register_server(body: ServerRegistration, user: User, request: Request) -> RegisteredServerReply:
        """Look at the server, and keep it with the tools that it lists."""
        made = registration.register(user, BotId(body.bot_id), body.draft(), deadline=deadline(request))
        return RegisteredServerReply.of_registered(made)

    @router.get("/servers/{id}")
    def list_servers(bot_id: ById, user: User, limit: Limit = 50, cursor: Cursor | None = None) -> ServerPage:
        page = registration.list(user, BotId(bot_id), limit=limit, cursor=cursor)
        return ServerPage(items=[ServerReply.of(server) for server in page.items], next_cursor=page.next_cursor)

    @router.get("/servers/{id}/{server_id}")
    def get_server(bot_id: ById, server_id: UUID, user: User) -> RegisteredServerReply:
        return RegisteredServerReply.of_registered(registration.get(user, BotId(bot_id), ToolServerId(server_id)))

    @router.patch("/servers/{id}")
    def change_server(server_id: ById, body: ServerChange, user: User, request: Request) -> RegisteredServerReply:
        """A new address, protocol or credential is tried out before it is kept."""
        changed = registration.change(user, ToolServerId(server_id), body.changes(), deadline=deadline(request))
        return RegisteredServerReply.of_registered(changed)

    @router.delete("/servers/{id}", status_code=204)
    def delete_server(server_id: ById, user: User) -> Response:
        registration.delete(user, ToolServerId(server_id))
        return Response(status_code=204)

    @router.post("/servers/{id}/refresh")
    def refresh_server(server_id: ById, user: User, request: Request) -> RegisteredServerReply:
        """Look at the server now; what it has changed or added waits for review."""
        seen = registration.refresh(user, ToolServerId(server_id), deadline=deadline(request))
        return RegisteredServerReply.of_registered(seen)

    return router
