"""One MCP session: what is sent, and how failures are told apart.

Requests go through the SDK's dispatcher as raw JSON: its typed ``list_tools`` refuses a whole listing for one tool that
breaks the schema, and its ``call_tool`` lists all tools before each call.

Importing this module costs what importing the client half of ``mcp`` costs.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress

import httpx2
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    Implementation,
)
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from botforge.adapters.tools.attempt import BROKEN_OFF, INVALID, Attempt, Failure
from botforge.adapters.tools.definitions import HeaderParameters, ToolReader
from botforge.adapters.tools.exchanges import MAX_ANSWER_BYTES
from botforge.adapters.tools.json_values import Json, NotJson, as_list, storable, text
from botforge.adapters.tools.mcp_client_half import client_half
from botforge.adapters.tools.mcp_results import AsksForInput, read_result
from botforge.adapters.tools.results import result_of
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, Discovery, ToolResult
from botforge.ports.tools import ToolCall

with client_half():
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.dispatcher import CallOptions
    from mcp.shared.exceptions import MCPError
    from mcp.shared.inbound import (
        MCP_METHOD_HEADER,
        MCP_NAME_HEADER,
        MCP_PROTOCOL_VERSION_HEADER,
        encode_header_value,
        find_invalid_x_mcp_header,
        mcp_param_headers,
        x_mcp_header_map,
    )
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

_MAX_PAGES = 20
# Errors that a server gives before it looks at the tool: of its protocol (JSON-RPC 2.0, 5.1; MCP 2026-07-28).
_REFUSALS = frozenset(
    {
        METHOD_NOT_FOUND,
        INVALID_REQUEST,
        HEADER_MISMATCH,
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        UNSUPPORTED_PROTOCOL_VERSION,
    }
)
_CLIENT = Implementation(name="botforge", version="0.1")

# The SDK logs what servers send; that is neither ours to keep nor a reason to wake anyone.
logging.getLogger("mcp").setLevel(logging.CRITICAL)
logging.getLogger("client").setLevel(logging.CRITICAL)


@asynccontextmanager
async def mcp_session(
    http: httpx2.AsyncClient, url: str, dialect: Dialect | None, attempt: Attempt
) -> AsyncGenerator["McpSession"]:
    """A session in ``dialect``, or in the one that the server is found to speak."""
    async with streamable_http_client(url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES) as (read, write):
        dispatcher = JSONRPCDispatcher(read, write)
        async with ClientSession(dispatcher=dispatcher, client_info=_CLIENT) as session:
            if dialect is not Dialect.MCP_STATELESS:
                try:
                    dialect = await _negotiated(session, dialect, attempt)
                except MCPError as error:
                    raise _refused(error, attempt) from error
                except (ValidationError, RuntimeError) as error:
                    raise attempt.error(INVALID) from error
            yield McpSession(session, dispatcher, dialect, attempt)


async def _negotiated(session: ClientSession, dialect: Dialect | None, attempt: Attempt) -> Dialect:
    """Try the newer generation, then the older: whatever is no answer of the newer one may come from the older."""
    if dialect is None:
        try:
            await session.discover()
        except (MCPError, ValidationError, RuntimeError):
            if attempt.status in (401, 403):
                raise
        else:
            return Dialect.MCP_STATELESS
    await session.initialize()
    return Dialect.MCP_HANDSHAKE


class McpSession:
    def __init__(
        self, session: ClientSession, dispatcher: "JSONRPCDispatcher[Json]", dialect: Dialect, attempt: Attempt
    ) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._dialect = dialect
        self._attempt = attempt

    async def discovery(self) -> Discovery:
        """All tools, page by page. Raises ToolServerError."""
        stateless = self._dialect is Dialect.MCP_STATELESS
        reader = ToolReader(schema_key="inputSchema", header_parameters=_header_parameters if stateless else None)
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._page(cursor)
            listed = as_list(page.get("tools"))
            if listed is None:
                raise self._attempt.error(INVALID)
            reader.read(listed)
            previous, cursor = cursor, page.get("nextCursor")
            if not isinstance(cursor, str) or cursor == previous or reader.full:
                break
        else:
            reader.note(f"More than {_MAX_PAGES} pages of tools are listed; the rest was left out.")
        about = await self._about()
        name, version = (about.name, about.version) if about else ("", "")
        return Discovery(self._dialect, text(name)[:200], text(version)[:200], reader.tools, reader.notes)

    async def _about(self) -> Implementation | None:
        """What the server calls itself; in the stateless revision an answer of its own, which it may leave out."""
        if self._dialect is Dialect.MCP_STATELESS and self._session.discover_result is None:
            with suppress(MCPError, ValidationError, RuntimeError):
                await self._session.discover()
        return self._session.server_info

    async def _page(self, cursor: str | None) -> dict[str, Json]:
        try:
            return await self._request("tools/list", {} if cursor is None else {"cursor": cursor})
        except MCPError as error:
            raise _refused(error, self._attempt) from error
        except NotJson:
            raise self._attempt.error(INVALID) from None

    async def call(self, call: ToolCall, arguments: Mapping[str, Json]) -> ToolResult:
        """Raises ToolServerError."""
        headers = {} if call.idempotency_key is None else {"Idempotency-Key": call.idempotency_key}
        if self._dialect is Dialect.MCP_STATELESS:
            paths = {_path(pointer): header for pointer, header in call.header_parameters.items()}
            headers |= mcp_param_headers(paths, arguments)
        try:
            answer = await self._request("tools/call", {"name": call.tool_name, "arguments": arguments}, headers)
            return read_result(answer)
        except MCPError as error:
            return _invalid_parameters(error, self._attempt)
        except AsksForInput:
            message = "The tool asks for further input, which cannot be given here."
            raise ToolServerError(message, delivery=Delivery.ANSWERED) from None
        except ValueError:
            raise self._attempt.error(INVALID, delivery=Delivery.ANSWERED) from None

    async def _request(
        self, method: str, parameters: Mapping[str, Json], headers: Mapping[str, str] | None = None
    ) -> dict[str, Json]:
        options: CallOptions = {"headers": dict(headers or {})}
        sent = dict(parameters)
        if self._dialect is Dialect.MCP_STATELESS:
            sent["_meta"] = {
                PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
                CLIENT_INFO_META_KEY: {"name": _CLIENT.name, "version": _CLIENT.version},
                CLIENT_CAPABILITIES_META_KEY: {},
            }
            options["headers"] |= {MCP_PROTOCOL_VERSION_HEADER: LATEST_MODERN_VERSION, MCP_METHOD_HEADER: method}
            if method == "tools/call":
                options["headers"][MCP_NAME_HEADER] = encode_header_value(str(sent["name"]))
        else:
            options["headers"][MCP_PROTOCOL_VERSION_HEADER] = self._session.protocol_version or ""
        return storable(await self._dispatcher.send_raw_request(method, sent, options))


def _refused(error: MCPError, attempt: Attempt) -> ToolServerError:
    """A JSON-RPC error: the server's own, or the SDK's words for an answer that was none."""
    if attempt.status is None:
        return attempt.error(BROKEN_OFF)
    if error.code == CONNECTION_CLOSED and attempt.status < 400:  # a stream that ended without an answer
        return attempt.error(BROKEN_OFF, delivery=Delivery.UNKNOWN)
    if error.code == PARSE_ERROR or (error.code == INVALID_REQUEST and attempt.status < 400):
        return attempt.error(INVALID, delivery=Delivery.ANSWERED)
    code = "tool_call_refused" if error.code in _REFUSALS else "tool_server_error"
    return attempt.error(Failure(code, f"The tool server refused the request (JSON-RPC error {error.code})."))


def _invalid_parameters(error: MCPError, attempt: Attempt) -> ToolResult:
    """An error of ``tools/call`` that the model can mend, in the server's words. Raises ToolServerError for others."""
    if attempt.status in (None, 401, 403) or error.code not in (INVALID_PARAMS, HEADER_MISMATCH):
        raise _refused(error, attempt) from error
    if error.code == HEADER_MISMATCH:
        message = "The tool's definition has changed; the server must be refreshed."
        raise ToolServerError(message, code="tool_call_refused", delivery=Delivery.ANSWERED) from error
    words = text(error.message)
    if "tool" in words.lower() and any(sign in words.lower() for sign in ("unknown", "not found")):
        message = "The tool server has no tool of this name."
        raise ToolServerError(message, code="tool_unknown", delivery=Delivery.ANSWERED) from error
    return result_of(words, words, is_error=True)


def _header_parameters(schema: Mapping[str, Json]) -> HeaderParameters:
    if find_invalid_x_mcp_header(schema) is not None:
        return HeaderParameters(invalid=True)
    return HeaderParameters({_pointer(path): header for path, header in x_mcp_header_map(schema).items()})


def _pointer(path: tuple[str, ...]) -> str:
    """A parameter's name; for one within others, their names joined as in a JSON pointer (RFC 6901)."""
    return "/".join(name.replace("~", "~0").replace("/", "~1") for name in path)


def _path(pointer: str) -> tuple[str, ...]:
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/"))
