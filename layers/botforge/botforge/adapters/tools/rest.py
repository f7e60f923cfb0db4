"""The REST contract for tool servers: ``GET /capabilities``, ``GET /tools``, ``POST /execute``.

A body of the contract counts beside an HTTP error: a server that answers 422 with ``success: false`` tells the model
what to mend. Everything else is judged by its status.
"""

from typing import TYPE_CHECKING

from botforge.adapters.tools.attempt import INVALID, Attempt
from botforge.adapters.tools.credentials import AuthorisedExchanges
from botforge.adapters.tools.definitions import ToolReader
from botforge.adapters.tools.exchanges import Exchange
from botforge.adapters.tools.json_values import Json, NotJson, as_list, as_object, compact, parse, text
from botforge.adapters.tools.results import result_of, sendable_arguments
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, Discovery, ToolResult
from botforge.ports.tools import Endpoint, ToolCall

if TYPE_CHECKING:
    import httpx2

_TOOLS_OWN = frozenset({400, 404, 409, 410, 422})  # an error that the tool may mean, where the body is the contract's


class RestTransport:
    """ToolTransport for servers of the REST contract; its paths lie beneath ``endpoint.url``."""

    def __init__(self, exchanges: AuthorisedExchanges) -> None:
        self._exchanges = exchanges

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        return self._exchanges.run(endpoint, _discover, deadline)

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        body = compact({"tool_name": text(call.tool_name), "parameters": sendable_arguments(call)}).encode()
        headers = {"Content-Type": "application/json"}
        if call.idempotency_key is not None:
            headers["Idempotency-Key"] = call.idempotency_key

        async def execute(exchange: Exchange[ToolResult]) -> None:
            exchange.attempt.begin("POST")
            url = exchange.endpoint.url.below("/execute")
            response = await exchange.http.post(url, content=body, headers=headers)
            exchange.answer(_result(response, exchange.attempt))

        return self._exchanges.run(endpoint, execute, deadline)


async def _discover(exchange: Exchange[Discovery]) -> None:
    about = await _get(exchange, "/capabilities")
    listed = as_list(about.get("tools"))
    if listed is None:
        listed = as_list((await _get(exchange, "/tools")).get("tools"))
    if listed is None:
        raise exchange.attempt.error(INVALID)
    reader = ToolReader(schema_key="schema")
    reader.read(listed)
    server = as_object(about.get("server")) or {}
    name, version = (text(value)[:200] if isinstance(value, str) else "" for value in _identity(server))
    exchange.answer(Discovery(Dialect.REST, name, version, reader.tools, reader.notes))


def _identity(server: dict[str, Json]) -> tuple[object, object]:
    return server.get("name"), server.get("version")


async def _get(exchange: Exchange[Discovery], path: str) -> dict[str, Json]:
    exchange.attempt.begin("GET")
    response = await exchange.http.get(exchange.endpoint.url.below(path), headers={"Accept": "application/json"})
    body = _object(response)
    if body is None or not response.is_success:
        raise exchange.attempt.error(INVALID)
    return body


def _result(response: "httpx2.Response", attempt: Attempt) -> ToolResult:
    answer = _object(response) or {}
    success = answer.get("success")
    if success is True and response.is_success:
        result: Json = answer.get("result")
        return result_of(result if isinstance(result, str) else compact(result), result, is_error=False)
    if success is not False or not (response.is_success or response.status_code in _TOOLS_OWN):
        raise attempt.error(INVALID)
    if response.status_code == 404:
        raise ToolServerError(
            "The tool server has no tool of this name.", code="tool_unknown", delivery=Delivery.ANSWERED
        )
    reason: Json = answer.get("error")
    words = reason if isinstance(reason, str) else compact(reason)
    return result_of(words, words, is_error=True)


def _object(response: "httpx2.Response") -> dict[str, Json] | None:
    try:
        return as_object(parse(response.content))
    except NotJson:
        return None
