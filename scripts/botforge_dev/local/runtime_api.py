"""Lambda's Runtime API, the side that AWS runs: hands events to a runtime client and takes its replies.

Paths and headers: AWS Lambda Developer Guide, "Using the Lambda runtime API for custom runtimes" (2018-06-01).
"""

import json
import queue
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PREFIX = "/2018-06-01/runtime"
MAX_REPLY_BYTES = 6 * 1024 * 1024  # of a synchronous invocation


class FunctionError(Exception):
    """The function raised, or its process ended. ``payload`` is what the runtime reported."""

    def __init__(self, payload: Any) -> None:  # noqa: ANN401 - any JSON
        super().__init__(str(payload)[:500])
        self.payload = payload


@dataclass(slots=True)
class Invocation:
    event: Any
    deadline: float  # Unix time in seconds
    function_arn: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    done: threading.Event = field(default_factory=threading.Event)
    reply: Any = None
    error: Any = None

    def finish(self, reply: Any = None, error: Any = None) -> None:  # noqa: ANN401 - any JSON
        self.reply, self.error = reply, error
        self.done.set()


class RuntimeApi:
    """One server for one execution environment, which handles one invocation at a time."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Invocation | None] = queue.SimpleQueue()
        self._current: Invocation | None = None
        self.initialised = threading.Event()  # the client has asked for its first event
        self.init_error: Any = None
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                api.give(self)

            def do_POST(self) -> None:
                api.take(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
                """Nothing: invocations are logged where they are made."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def submit(self, invocation: Invocation) -> None:
        self._current = invocation
        self._waiting.put(invocation)

    def close(self) -> None:
        self._waiting.put(None)
        self._server.shutdown()
        self._server.server_close()

    def give(self, request: BaseHTTPRequestHandler) -> None:
        """GET …/invocation/next: wait for an event, however long."""
        self.initialised.set()
        invocation = self._waiting.get()
        if invocation is None:
            request.close_connection = True
            return
        body = json.dumps(invocation.event).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.send_header("Lambda-Runtime-Aws-Request-Id", invocation.id)
        request.send_header("Lambda-Runtime-Deadline-Ms", str(int(invocation.deadline * 1000)))
        request.send_header("Lambda-Runtime-Invoked-Function-Arn", invocation.function_arn)
        request.send_header(
            "Lambda-Runtime-Trace-Id", f"Root=1-{int(time.time()):08x}-{invocation.id.replace('-', '')[:24]}"
        )
        request.end_headers()
        request.wfile.write(body)

    def take(self, request: BaseHTTPRequestHandler) -> None:
        """POST …/response, …/error or …/init/error."""
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        path = request.path.removeprefix(_PREFIX)
        current = self._current
        if path == "/init/error":
            self.init_error = _loads(body)
            self.initialised.set()
        elif current is not None and path == f"/invocation/{current.id}/response":
            if len(body) > MAX_REPLY_BYTES:
                current.finish(error={"errorType": "Function.ResponseSizeTooLarge"})
            else:
                current.finish(reply=_loads(body))
        elif current is not None and path == f"/invocation/{current.id}/error":
            current.finish(error=_loads(body))
        request.send_response(202)
        request.send_header("Content-Length", "0")
        request.end_headers()


def _loads(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(body)
    except ValueError:
        return {"errorType": "Runtime.MarshalError"}
