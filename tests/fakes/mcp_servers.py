"""MCP servers on loopback for tests: the official SDK's own server, and a proxy before it that fails when told."""

import json
import socket
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from tests.fakes.tool_servers import UNAUTHORIZED, Injected

from botforge_dev.fakes.loopback import Answer, Request, Respond, serve

_HOP_BY_HOP = frozenset({"connection", "content-length", "host", "transfer-encoding"})


@dataclass(slots=True)
class McpServer:
    url: str = ""
    paid: list[float] = field(default_factory=list[float])


@contextmanager
def running(app: Any) -> Generator[str]:  # noqa: ANN401 - an ASGI application
    """Serve an ASGI application on a free loopback port until the block ends; gives its origin."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def mcp_server() -> Generator[McpServer]:
    """The SDK's server, which speaks the stateless revision and the handshake on one endpoint."""
    server = MCPServer("test-tools", version="1.2.3", log_level="CRITICAL")
    state = McpServer()

    def add(a: float, b: float) -> dict[str, float]:
        """Add two numbers."""
        return {"sum": a + b}

    def echo(text: str) -> str:
        """Repeat a text."""
        return text

    def pay(amount: float) -> dict[str, float]:
        """Pay an amount."""
        state.paid.append(amount)
        return {"paid": amount}

    def broken() -> str:
        """Always reports a failure of its own."""
        raise ToolError("the printer is out of paper")

    for tool in (add, echo, pay, broken):
        server.add_tool(tool)
    with running(server.streamable_http_app()) as origin:
        state.url = origin + "/mcp"
        yield state


@dataclass(slots=True)
class Proxy:
    """Passes everything on but what it is told to fail; only ``tools/call`` is ever failed."""

    url: str = ""
    legacy_only: bool = False  # refuse the stateless revision, as a server of 2025 does
    required_headers: dict[str, str] = field(default_factory=dict[str, str])
    requests: list[Request] = field(default_factory=list[Request])
    queue: deque[Injected] = field(default_factory=deque[Injected])

    def fail(self, *answers: Answer, acted: bool = False) -> None:
        self.queue.extend(Injected(answer, acted) for answer in answers)

    @property
    def calls(self) -> list[Request]:
        return [request for request in self.requests if _method(request) == "tools/call"]


@contextmanager
def proxy(target: str) -> Generator[Proxy]:
    state = Proxy()
    with httpx2.Client(trust_env=False, verify=False, timeout=30) as client:

        def answer(request: Request) -> Answer:
            state.requests.append(request)
            if request.method == "GET":  # the stream of a server's own messages; a server need not have one
                return Respond(405)
            if any(request.headers.get(name.lower()) != value for name, value in state.required_headers.items()):
                return UNAUTHORIZED
            if state.legacy_only and request.headers.get("mcp-protocol-version") == "2026-07-28":
                error = {"code": -32000, "message": "Bad Request: Server not initialized"}
                return Respond(400, {"jsonrpc": "2.0", "error": error, "id": None})
            injected = state.queue.popleft() if _method(request) == "tools/call" and state.queue else None
            if injected and not injected.acted:
                return injected.answer
            headers = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
            honest = client.request(request.method, target, headers=headers, content=request.body)
            kept = {name.title(): value for name, value in honest.headers.items() if name not in _HOP_BY_HOP}
            return injected.answer if injected else Respond(honest.status_code, honest.content, kept)

        with serve(answer) as origin:
            state.url = origin + "/mcp"
            yield state


def _method(request: Request) -> str | None:
    return json.loads(request.body).get("method") if request.body else None
