"""The Lambda Runtime API, as the runtime client in a function's process speaks it.

Source: AWS Lambda developer guide, "Using the Lambda runtime API": ``next``, ``response``, ``error``, ``init/error``.
"""

import json
import queue
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PREFIX = "/2018-06-01/runtime"
_POLL_S = 0.2


class FunctionFailed(Exception):
    """The function answered with an error, could not start, or died; the message is what is known of it."""


@dataclass(slots=True)
class _Invocation:
    event: bytes
    deadline_ms: int
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    done: threading.Event = field(default_factory=threading.Event)
    payload: bytes = b""
    failed: bool = False


class RuntimeApi:
    """Hands events to one function and waits for its replies. Close it when done."""

    def __init__(self, function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:local") -> None:
        self._arn = function_arn
        self._waiting: queue.SimpleQueue[_Invocation | None] = queue.SimpleQueue()
        self._running: dict[str, _Invocation] = {}
        self._init_error: bytes | None = None
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1; the function's AWS_LAMBDA_RUNTIME_API is ``127.0.0.1:{port}``."""
        return int(self._server.server_address[1])

    def invoke(self, event: Mapping[str, Any], *, timeout_s: float, alive: Callable[[], bool] = lambda: True) -> Any:  # noqa: ANN401 - JSON
        """The function's reply to ``event``, decoded.

        ``alive`` tells whether its process still runs. Raises FunctionFailed, also when no reply came in time.
        """
        deadline = time.monotonic() + timeout_s
        invocation = _Invocation(json.dumps(event).encode(), int((time.time() + timeout_s) * 1000))
        self._running[invocation.id] = invocation
        self._waiting.put(invocation)
        while not invocation.done.wait(_POLL_S):
            if self._init_error is not None:
                raise FunctionFailed(f"init failed: {self._init_error.decode(errors='replace')}")
            if not alive():
                raise FunctionFailed("the function's process has ended")
            if time.monotonic() > deadline:
                raise FunctionFailed(f"no reply within {timeout_s:g} s")
        if invocation.failed:
            raise FunctionFailed(invocation.payload.decode(errors="replace"))
        return json.loads(invocation.payload)

    def close(self) -> None:
        """Stop serving; a function that waits for an event is let go."""
        self._waiting.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next(self) -> tuple[bytes, Mapping[str, str]] | None:
        """The next event and its headers, once there is one; None when the server closes."""
        invocation = self._waiting.get()
        if invocation is None:
            self._waiting.put(None)
            return None
        return invocation.event, {
            "Lambda-Runtime-Aws-Request-Id": invocation.id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": self._arn,
            "Lambda-Runtime-Trace-Id": f"Root=1-{int(time.time()):08x}-{uuid.uuid4().hex[:24]};Sampled=0",
        }

    def receive(self, path: str, body: bytes) -> bool:
        """Take what the function posted; False for a path that the API does not have."""
        if path == "/init/error":
            self._init_error = body
            return True
        _, _, rest = path.partition("/invocation/")
        invocation_id, _, kind = rest.partition("/")
        invocation = self._running.pop(invocation_id, None)
        if invocation is None or kind not in {"response", "error"}:
            return False
        invocation.payload, invocation.failed = body, kind == "error"
        invocation.done.set()
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a thread may be waiting for an event that will not come

    def __init__(self, api: RuntimeApi) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        if self.path != f"{_PREFIX}/invocation/next":
            self._reply(404, b"")
            return
        event = self.server.api.next()
        if event is None:
            self.close_connection = True
            return
        body, headers = event
        self._reply(200, body, headers)

    def do_POST(self) -> None:
        body = (
            self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else self._chunks()
        )
        known = self.server.api.receive(self.path.removeprefix(_PREFIX), body)
        self._reply(202 if known else 404, b'{"status": "OK"}' if known else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing: the function's own log is what matters."""

    def _chunks(self) -> bytes:
        """A chunked body (RFC 9112, section 7.1), which the runtime client sends for large replies."""
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
