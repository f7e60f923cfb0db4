"""The Model Context Protocol over Streamable HTTP, by the official SDK: the stateless revision and the handshake.

The SDK (0.5 s to import) is loaded by the first call. It is asynchronous: each call has a session of its own in the
event loop of its exchange, and nothing of it survives.
"""

from botforge.adapters.tools.credentials import AuthorisedExchanges
from botforge.adapters.tools.exchanges import Exchange
from botforge.adapters.tools.results import sendable_arguments
from botforge.domain.deadline import Deadline
from botforge.domain.tool import Discovery, ToolResult
from botforge.ports.tools import Endpoint, ToolCall


class McpTransport:
    """ToolTransport for MCP servers. Without a dialect, it finds out which generation the server is of."""

    def __init__(self, exchanges: AuthorisedExchanges) -> None:
        self._exchanges = exchanges

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        async def work(exchange: Exchange[Discovery]) -> None:
            from botforge.adapters.tools.mcp_session import mcp_session

            exchange.attempt.begin("POST")
            async with mcp_session(
                exchange.http, str(exchange.endpoint.url), endpoint.dialect, exchange.attempt
            ) as session:
                exchange.answer(await session.discovery())

        return self._exchanges.run(endpoint, work, deadline)

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        arguments = sendable_arguments(call)

        async def work(exchange: Exchange[ToolResult]) -> None:
            from botforge.adapters.tools.mcp_session import mcp_session

            exchange.attempt.begin("POST", preliminary=True)
            async with mcp_session(
                exchange.http, str(exchange.endpoint.url), endpoint.dialect, exchange.attempt
            ) as session:
                exchange.attempt.begin("POST", containing=b'"tools/call"')
                exchange.answer(await session.call(call, arguments))

        return self._exchanges.run(endpoint, work, deadline)
