"""The ToolTransport of the product: each server by the protocol that it speaks.

Importing this module loads neither ``httpx2`` nor ``mcp``; the first call to a server does.
"""

import ssl
from typing import TYPE_CHECKING

from botforge.adapters.tools.credentials import AuthorisedExchanges, CredentialHeaders
from botforge.adapters.tools.egress import EgressGuard, Resolve, resolve_by_system
from botforge.adapters.tools.exchanges import Exchanges
from botforge.adapters.tools.mcp import McpTransport
from botforge.adapters.tools.rest import RestTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ToolServerError
from botforge.domain.tool import Dialect, Discovery, ToolProtocol, ToolResult
from botforge.ports.tools import Endpoint, ToolCall, ToolTransport

if TYPE_CHECKING:
    import httpcore2

_PROBE_S = 5.0  # for a server to show that it keeps to the REST contract
_FINAL = frozenset({"tool_server_unreachable", "tool_response_too_large"})  # asking otherwise would not help


class ByProtocolTransport:
    """Without a dialect, it asks for the REST contract first (one GET, no SDK), then for MCP's two generations."""

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_by_system,
        dial: "httpcore2.AsyncNetworkBackend | None" = None,
    ) -> None:
        """``allow_loopback`` is for local development; the others are for tests."""
        exchanges = Exchanges(EgressGuard(allow_loopback=allow_loopback, resolve=resolve), tls=tls, dial=dial)
        authorised = AuthorisedExchanges(exchanges, CredentialHeaders(exchanges))
        self._rest = RestTransport(authorised)
        self._mcp = McpTransport(authorised)

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        transport = self._transport(endpoint)
        return transport.discover(endpoint, deadline=deadline) if transport else self._find_out(endpoint, deadline)

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        transport = self._transport(endpoint)
        if transport is None:
            dialect = self._find_out(endpoint, deadline).dialect
            endpoint = Endpoint(endpoint.url, endpoint.protocol, dialect, endpoint.credential)
            transport = self._rest if dialect is Dialect.REST else self._mcp
        return transport.call(endpoint, call, deadline=deadline)

    def _transport(self, endpoint: Endpoint) -> ToolTransport | None:
        if endpoint.dialect is Dialect.REST or endpoint.protocol is ToolProtocol.REST:
            return self._rest
        if endpoint.dialect is not None or endpoint.protocol is ToolProtocol.MCP:
            return self._mcp
        return None

    def _find_out(self, endpoint: Endpoint, deadline: Deadline) -> Discovery:
        soon = Deadline(min(deadline.at, deadline.monotonic() + _PROBE_S), deadline.monotonic)
        try:
            return self._rest.discover(endpoint, deadline=soon)
        except ToolServerError as rest:
            if rest.code in _FINAL or deadline.remaining() <= 0:
                raise
        return self._mcp.discover(endpoint, deadline=deadline)
