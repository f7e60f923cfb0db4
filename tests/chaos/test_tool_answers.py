"""Whatever bytes a tool server sends, a call ends with a result or an error of ours, on time, and is sent once."""

import json
import random
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

ROUNDS = 60
_HONEST: dict[Dialect, Any] = {
    Dialect.REST: {"success": True, "result": {"sum": 3}, "error": None},
    Dialect.MCP_STATELESS: {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "resultType": "complete",
            "content": [{"type": "text", "text": "3"}],
            "structuredContent": {"sum": 3},
        },
    },
}
_STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    1e308,
    10**30,
    "",
    "\0",
    "é" * 9,
    [],
    [[]],
    {},
    {"type": "text"},
    {"$ref": "#"},
]


@contextmanager
def _raw_server(answers: list[bytes], arrived: list[bytes]) -> Generator[str]:
    """Reads a request, writes the next answer byte for byte, closes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    arrived.append(_request(connection))
                    connection.sendall(answers.pop(0))
                except OSError:
                    continue

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/x"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65_536)
        if not part:
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < sum(lengths):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def _changed(value: Any, chance: random.Random) -> Any:  # noqa: ANN401 - JSON
    """The JSON value with something in it replaced, left out or added."""
    changed: Any = json.loads(json.dumps(value))
    if chance.random() < 0.2 or not isinstance(value, dict | list):
        return chance.choice(_STRANGE)
    keys: list[Any] = list(changed) if isinstance(value, dict) else list(range(len(changed)))
    if not keys:
        return chance.choice(_STRANGE)
    key = chance.choice(keys)
    if chance.random() < 0.3:
        del changed[key]
    else:
        changed[key] = _changed(changed[key], chance)
    return changed


def _answer(honest: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - JSON
    body = json.dumps(_changed(honest, chance) if chance.random() < 0.8 else honest).encode()
    kind = chance.choice(
        ["application/json", "text/event-stream", "text/html; charset=utf-7", "", "application/json; x=\xff"]
    )
    if "event-stream" in kind:
        body = chance.choice([b"data: ", b"id: 1\nevent: message\ndata: ", b"retry: -5\ndata: ", b":"]) + body + b"\n\n"
    status = chance.choice([200] * 8 + [201, 204, 206, 299, 400, 404, 418, 500, 999, 100, 99])
    length = chance.choice([len(body)] * 6 + [0, len(body) + 7, -1, "x"])
    head = f"HTTP/1.1 {status} Fine\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    answer = head.encode("latin-1") + body
    if chance.random() < 0.3:  # and now the bytes themselves
        at = chance.randrange(len(answer))
        answer = chance.choice(
            [answer[:at], answer[:at] + bytes([chance.randrange(256)]) + answer[at + 1 :], answer * 2]
        )
    return answer


def _ending(transport: ByProtocolTransport, endpoint: Endpoint) -> tuple[str, Delivery]:
    try:
        transport.call(endpoint, ToolCall("add", {"a": 1}, {}, None), deadline=Deadline.after(20))
    except ToolServerError as error:
        return error.code, error.delivery
    return "result", Delivery.ANSWERED


@pytest.mark.parametrize("dialect", list(_HONEST))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_answer_ends_in_a_result_or_in_an_error_of_ours(dialect: Dialect, seed: int) -> None:
    chance = random.Random(seed)
    transport = ByProtocolTransport(allow_loopback=True)
    endings: list[str] = []
    for _ in range(ROUNDS):
        answer = _answer(_HONEST[dialect], chance)
        arrived: list[bytes] = []
        with _raw_server([answer], arrived) as url:
            endpoint = Endpoint(url, ToolProtocol.AUTO, dialect)
            began = time.monotonic()
            ending, delivery = _ending(transport, endpoint)
            endings.append(ending)
            assert delivery is not Delivery.NOT_SENT, answer
            assert time.monotonic() - began < 15, answer
            assert len([request for request in arrived if request.startswith(b"POST")]) == 1, answer

    assert {"result", "tool_server_invalid_response"} <= set(endings)
