"""An LLM behind OpenAI's Chat Completions API, or any server that speaks it.

Importing this module costs what importing ``openai`` costs (0.4 s): only a composition root that has a key does so.
"""

import random
import re
import ssl
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import httpx2
import openai

from botforge.adapters.llm.completions import Failure, read_completion, read_error
from botforge.adapters.llm.connection import Connection, ResponseRefused
from botforge.adapters.overdue import Calls, Overdue
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.ports.chat import Completion, Message, ToolOffer

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

_ATTEMPTS = 3
_FIRST_PAUSE_S = 0.5  # doubled for each further attempt, less up to a quarter of it
_CONNECT_TIMEOUT_S = 5.0  # so that a packet lost in a handshake leaves time for another attempt
_MAX_CALLS = 16  # at once, those included whose deadline has passed and that have not noticed yet
_MAX_RESPONSE_BYTES = 4 * 1024 * 1024
_API_KEY = re.compile(r"[\x21-\x7e]+")


class OpenAIChatModel:
    """ChatModel over the ``openai`` SDK.

    A call has one deadline for everything: name resolution, connecting, retries, an answer that trickles. No timeout
    of the SDK's gives that, so each attempt runs beside its caller, who cuts its connection when the deadline
    passes, and leaves. Connections are kept for the next call, and are never shared by two at once.

    Error messages are ours throughout: a provider may echo the key in its own.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model: str,
        max_response_bytes: int = _MAX_RESPONSE_BYTES,
        tls: ssl.SSLContext | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``base_url=None`` is OpenAI's own. Raises ValueError for a key that no header can hold."""
        key = api_key.strip()
        if not _API_KEY.fullmatch(key):
            raise ValueError("the LLM's API key is empty, or has characters that no HTTP header can hold")
        self._api_key = key
        self._base_url = base_url
        self._model = model
        self._max_response_bytes = max_response_bytes
        self._pause = pause
        self._tls = tls or httpx2.create_ssl_context()  # reads every root certificate: once, not for each connection
        self._idle: list[Connection] = []
        weakref.finalize(self, _close_all, self._idle)
        self._calls = Calls("llm-call", limit=_MAX_CALLS)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        model: str | None,
        deadline: Deadline,
        tools: Sequence[ToolOffer] = (),
        must_answer: bool = False,
    ) -> Completion:
        asked = model or self._model
        request: CompletionCreateParamsNonStreaming = {
            "model": asked,
            "messages": [_message(message) for message in messages],
        }
        if tools:
            request["tools"] = [_tool(tool) for tool in tools]
            request["tool_choice"] = "none" if must_answer else "auto"
        failure = Failure("llm_timeout", "The LLM was not asked: the deadline had passed.")
        for attempt in range(_ATTEMPTS):
            if deadline.remaining() <= 0:
                break
            outcome = self._attempt(request, deadline)
            if isinstance(outcome, Completion):
                return outcome
            failure = outcome
            if not failure.retryable or attempt == _ATTEMPTS - 1:
                break
            pause = failure.retry_after
            if pause is None:
                pause = _FIRST_PAUSE_S * 2**attempt * random.uniform(0.75, 1)  # noqa: S311 - spreads load
            if pause >= deadline.remaining():  # better no answer now than none later
                break
            self._pause(pause)
        raise ChatModelUnavailable(failure.message, code=failure.code)

    def close(self) -> None:
        """Free the connections that are kept for later calls."""
        _close_all(self._idle)

    def _attempt(self, request: "CompletionCreateParamsNonStreaming", deadline: Deadline) -> Completion | Failure:
        connection = self._connection()
        try:
            outcome = self._calls.run(lambda: self._send(connection, request, deadline.remaining()), deadline)
        except Overdue as overdue:
            connection.cut()
            overdue.when_over(connection.close)
            return Failure("llm_timeout", "The LLM did not answer in time.")
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return outcome

    def _connection(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return Connection(self._tls, max_response_bytes=self._max_response_bytes)

    def _send(
        self, connection: Connection, request: "CompletionCreateParamsNonStreaming", seconds: float
    ) -> Completion | Failure:
        client = openai.OpenAI(
            api_key=self._api_key, base_url=self._base_url, max_retries=0, http_client=connection.http
        )
        timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_TIMEOUT_S))
        try:
            # Not chat.completions.create: it compares every message with the types of its parameters, finds nothing to
            # change, and takes a third of what a turn of the agent costs (openai-python, "Undocumented endpoints").
            response = client.post(
                "/chat/completions", body=request, cast_to=httpx2.Response, options={"timeout": timeout}
            )
        except openai.APIStatusError as error:
            return read_error(error.status_code, error.code, error.response.headers)
        except openai.APITimeoutError:
            return Failure("llm_timeout", "The LLM did not answer in time.", retryable=True)
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ResponseRefused):
                return Failure("llm_invalid_response", "The LLM's answer is larger than it may be, or compressed.")
            if connection.answering:
                return Failure("llm_invalid_response", "The LLM's answer broke off.", retryable=True)
            return Failure("llm_error", "The LLM cannot be reached.", retryable=True)
        return read_completion(response.content, asked=str(request["model"]))


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()


def _message(message: Message) -> "ChatCompletionMessageParam":
    match message.role:
        case "system":
            return {"role": "system", "content": message.content}
        case "user":
            return {"role": "user", "content": message.content}
        case "tool":
            return {"role": "tool", "content": message.content, "tool_call_id": message.tool_request_id or ""}
        case "assistant" if message.tool_requests:
            return {
                "role": "assistant",
                "content": message.content or None,
                "tool_calls": [
                    {"id": asked.id, "type": "function", "function": {"name": asked.name, "arguments": asked.arguments}}
                    for asked in message.tool_requests
                ],
            }
        case "assistant":
            return {"role": "assistant", "content": message.content}


def _tool(offer: ToolOffer) -> "ChatCompletionToolUnionParam":
    return {
        "type": "function",
        "function": {"name": offer.name, "description": offer.description, "parameters": dict(offer.parameters)},
    }
