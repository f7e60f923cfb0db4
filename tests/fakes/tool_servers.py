"""A tool server of the REST contract on loopback: honest, counting what it did, and faulty when told.

::

    with tool_server() as server:
        server.fail(RESET, acted=True)  # the next execution: done, and its answer lost
        ...
        assert server.effects == [Effect("pay", {"amount": 3}, None)]
"""

import gzip
import json
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from botforge_dev.fakes.loopback import Answer, Cut, Hang, Huge, Request, Reset, Respond, Trickle, serve

RESET = Reset()
SERVER_ERROR = Respond(500, {"detail": "something broke"})
HANG = Hang()
TRICKLE = Trickle()
TRICKLED_HEADERS = Trickle(part="headers")
GARBAGE = Respond(200, b"\x00\xff<html>not JSON", {"Content-Type": "text/html"})
HUGE = Huge()
GZIP_BOMB = Respond(200, gzip.compress(b'"' + b"a" * 16 * 1024 * 1024 + b'"'), {"Content-Encoding": "gzip"})
DIES_BEFORE_ANSWERING = Cut(part="request")
DIES_MID_ANSWER = Cut(body=b'{"success": true, "result": {"val')
UNAUTHORIZED = Respond(401, {"detail": "who are you?"})


def redirect(location: str) -> Respond:
    return Respond(307, b"", {"Location": location})


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that was really done."""

    tool_name: str
    parameters: Mapping[str, Any]
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Injected:
    """An answer in place of the honest one; ``acted`` says whether the tool ran before it."""

    answer: Answer
    acted: bool = False


Run = Callable[[Mapping[str, Any]], object]


class ToolFailed(Exception):
    """What the server answers ``success: false`` with."""


def definition(name: str, description: str, properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {"name": name, "description": description, "schema": schema}


def _add(parameters: Mapping[str, Any]) -> object:
    return {"sum": parameters["a"] + parameters["b"]}


def _echo(parameters: Mapping[str, Any]) -> object:
    return {"text": parameters["text"]}


def _pay(parameters: Mapping[str, Any]) -> object:
    return {"paid": parameters["amount"]}


def _broken(_: Mapping[str, Any]) -> object:
    raise ToolFailed("the printer is out of paper")


_NUMBER = {"type": "number"}
_TOOLS: dict[str, tuple[dict[str, Any], Run]] = {
    "add": (definition("add", "Add two numbers.", {"a": _NUMBER, "b": _NUMBER}, "a", "b"), _add),
    "echo": (definition("echo", "Repeat a text.", {"text": {"type": "string"}}, "text"), _echo),
    "pay": (definition("pay", "Pay an amount.", {"amount": _NUMBER}, "amount"), _pay),
    "broken": (definition("broken", "Always reports a failure of its own.", {}), _broken),
}


@dataclass(slots=True)
class ToolServer:
    """``url`` is the endpoint; every list and mapping may be read and changed while it runs."""

    url: str = ""
    tools: dict[str, tuple[dict[str, Any], Run]] = field(default_factory=lambda: dict(_TOOLS))
    required_headers: dict[str, str] = field(default_factory=dict[str, str])  # 401 without them
    requests: list[Request] = field(default_factory=list[Request])
    effects: list[Effect] = field(default_factory=list[Effect])  # each counted once, whatever the key did
    inject: Callable[[Request], Injected | None] | None = None  # asked at each execution, before the queue
    capabilities: Answer | None = None  # in place of the honest answer of GET /capabilities
    tool_list: Answer | None = None  # in place of the honest answer of GET /tools
    _queue: deque[Injected] = field(default_factory=deque[Injected])
    _answers: dict[str, Respond] = field(default_factory=dict[str, Respond])  # by idempotency key
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, *answers: Answer, acted: bool = False) -> None:
        """The next executions get these answers, one each; then it is honest again."""
        self._queue.extend(Injected(answer, acted) for answer in answers)

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if any(request.headers.get(name.lower()) != value for name, value in self.required_headers.items()):
            return UNAUTHORIZED
        match (request.method, request.path.rpartition("/")[2]):
            case ("GET", "capabilities"):
                about = {"name": "test-tools", "version": "1.2.3", "description": "Tools of a test."}
                honest = {"server": about, "tools": self._definitions(), "protocol_version": "1.0"}
                return self.capabilities or Respond(200, honest)
            case ("GET", "tools"):
                return self.tool_list or Respond(200, {"tools": self._definitions()})
            case ("POST", "execute"):
                with self._lock:
                    return self._execute(request)
            case _:
                return Respond(404, {"detail": "Not Found"})

    def _definitions(self) -> list[dict[str, Any]]:
        return [about for about, _ in self.tools.values()]

    def _execute(self, request: Request) -> Answer:
        injected = self.inject(request) if self.inject else None
        if injected is None and self._queue:
            injected = self._queue.popleft()
        if injected is None:
            return self._run(request)
        if injected.acted:
            self._run(request)
        return injected.answer

    def _run(self, request: Request) -> Respond:
        """Run the tool once for each idempotency key, as a server that honours the key does."""
        key = request.headers.get("idempotency-key")
        if key is not None and key in self._answers:
            return self._answers[key]
        body = json.loads(request.body)
        name, parameters = body["tool_name"], body["parameters"]
        if name not in self.tools:
            return Respond(404, {"success": False, "result": None, "error": f"no tool called {name}"})
        try:
            result = self.tools[name][1](parameters)
        except ToolFailed as failed:
            return Respond(200, {"success": False, "result": None, "error": str(failed)})
        self.effects.append(Effect(name, parameters, key))
        answer = Respond(200, {"success": True, "result": result, "error": None})
        if key is not None:
            self._answers[key] = answer
        return answer


@contextmanager
def tool_server(path: str = "") -> Generator[ToolServer]:
    """Runs until the block ends; ``path`` is the endpoint's, beneath which the contract's paths lie."""
    server = ToolServer()
    with serve(server.answer) as url:
        server.url = url + path
        yield server
