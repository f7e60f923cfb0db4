"""An HTTP server on the loopback address that gives the answers a test has written, one a request."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Reply:
    """``headers`` may lie about the length of ``body``; the connection is closed after it."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without a word."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class ScriptedHttp:
    """Takes ``replies`` from the front; a request that finds none is left hanging until the server ends."""

    url: str = ""
    replies: list[Reply | Drop] = field(default_factory=list[Reply | Drop])
    requests: list[Request] = field(default_factory=list[Request])


@contextmanager
def scripted_http() -> Generator[ScriptedHttp]:
    script = ScriptedHttp()
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            self.close_connection = True
            self.raw_requestline = self.rfile.readline(65_537)
            if self.raw_requestline and self.parse_request():
                self._answer()

        def _answer(self) -> None:
            body = self._body()
            script.requests.append(Request(self.command, self.path, dict(self.headers.items()), body))
            if not script.replies:
                over.wait()
                return
            reply = script.replies.pop(0)
            if isinstance(reply, Drop):
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def _body(self) -> bytes:
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.send_response_only(100)
                self.end_headers()
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()
