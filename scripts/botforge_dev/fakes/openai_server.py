"""A strict OpenAI-compatible server: POST /v1/chat/completions and GET /v1/models, without streaming.

It refuses what the real service refuses (OpenAI API reference, "Create chat completion"), in the same shape of error,
and answers from a script: a queue of answers, or a function of the request.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from botforge_dev.fakes.loopback import Answer, Fault, Request, Respond, serve
from botforge_dev.fakes.openai_errors import BadRequest
from botforge_dev.fakes.openai_request import checked_request

Json = dict[str, Any]
API_KEY = "sk-local-fake-key"


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion. ``message`` and ``extra`` are laid over what a real one would hold; None as a value drops a key
    of ``extra``, as compatible servers leave out fields."""

    content: str | None = "Hello."
    finish_reason: str = "stop"
    message: Json = field(default_factory=dict[str, Any])
    extra: Json = field(default_factory=dict[str, Any])


def tool_calls(*asked: tuple[str, object], content: str | None = None) -> Reply:
    """A completion that asks for calls: (name, arguments). Arguments that are a string are sent as they are."""
    requests = [
        {
            "id": f"call_{number}_{name}",
            "type": "function",
            "function": {"name": name, "arguments": made if isinstance(made, str) else json.dumps(made)},
        }
        for number, (name, made) in enumerate(asked)
    ]
    return Reply(content, finish_reason="tool_calls", message={"tool_calls": requests})


Scripted = Reply | Respond | Fault
Script = Callable[[Json], Scripted]


@dataclass(slots=True)
class OpenAIServer:
    """``answers`` are used up first, then ``script`` is asked. ``requests`` holds accepted bodies, in order."""

    script: Script
    api_key: str
    models: frozenset[str]
    url: str = ""  # the base URL for a client: ends in /v1
    answers: deque[Scripted] = field(default_factory=deque[Scripted])
    requests: list[Json] = field(default_factory=list[Json])
    received: list[Request] = field(default_factory=list[Request])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, *scripted: Scripted) -> None:
        with self._lock:
            self.answers.extend(scripted)

    def handle(self, request: Request) -> Answer:
        with self._lock:
            self.received.append(request)
        if request.headers.get("authorization") != f"Bearer {self.api_key}":
            return refusal(401, "Incorrect API key provided.", code="invalid_api_key")
        match request.method, request.path:
            case "GET", "/v1/models":
                models = [{"id": name, "object": "model", "created": 0, "owned_by": "fake"} for name in self.models]
                return Respond(200, {"object": "list", "data": models})
            case "POST", "/v1/chat/completions":
                return self._complete(request)
            case method, path:
                return refusal(404, f"Invalid URL ({method} {path})")

    def _complete(self, request: Request) -> Answer:
        try:
            body = checked_request(request.body, request.headers.get("content-type", ""), self.models)
        except BadRequest as error:
            return refusal(error.status, str(error), code=error.code, param=error.param)
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
            scripted = self.answers.popleft() if self.answers else None
        scripted = scripted if scripted is not None else self.script(body)
        return Respond(200, completion(scripted, body, number)) if isinstance(scripted, Reply) else scripted


@contextmanager
def openai_server(
    script: Script = lambda _: Reply(), *, api_key: str = API_KEY, models: Sequence[str] = ("gpt-4o-mini", "gpt-4o")
) -> Generator[OpenAIServer]:
    server = OpenAIServer(script, api_key, frozenset(models))
    with serve(server.handle) as url:
        server.url = f"{url}/v1"
        yield server


def completion(reply: Reply, body: Json, number: int) -> Json:
    """The body of a 200. Tokens are counted as words, which is enough to tell one count from another."""
    message: Json = {"role": "assistant", "content": reply.content, "refusal": None, "annotations": [], **reply.message}
    prompt = sum(len(str(each.get("content", "")).split()) for each in body["messages"])
    generated = len((reply.content or "").split())
    whole: Json = {
        "id": f"chatcmpl-{number:08d}",
        "object": "chat.completion",
        "created": 1_700_000_000 + number,
        "model": f"{body['model']}-2024-07-18",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated},
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
        **reply.extra,
    }
    return {key: value for key, value in whole.items() if key not in reply.extra or value is not None}


def refusal(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> Respond:
    """An error in OpenAI's shape."""
    kinds = {401: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error"}
    kind = kinds.get(status, "invalid_request_error")
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Respond(status, {"error": error}, headers or {})
