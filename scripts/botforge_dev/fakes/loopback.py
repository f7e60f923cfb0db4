"""An HTTP/1.1 server on a free loopback port, and the faults that a service at the far end of a network shows."""

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, urlsplit

_GONE = (BrokenPipeError, ConnectionResetError, TimeoutError)  # the client went away; that is its right


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str  # path and query, as sent
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    connection: int  # counts the server's connections: equal numbers shared one

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Respond:
    """A whole response; ``body`` is sent as JSON unless it is bytes."""

    status: int
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and say nothing for as long as the server runs."""


@dataclass(frozen=True, slots=True)
class Trickle:
    """One byte every ``interval`` seconds, for ever: of the headers, or of a body once the headers are out."""

    interval: float = 0.05
    part: str = "body"  # or "headers"


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection: before a word, or in the middle of a body."""

    part: str = "body"  # or "request"
    body: bytes = b'{"id": "cut-off", "choices": [{"mess'


@dataclass(frozen=True, slots=True)
class Reset:
    """Take the request and abort the connection (RST), as a process that is killed does."""


@dataclass(frozen=True, slots=True)
class Huge:
    """A valid beginning of a JSON string and then ``size`` bytes of it, chunked: no header tells its length."""

    size: int = 64 * 1024 * 1024


Fault = Hang | Trickle | Cut | Reset | Huge
Answer = Respond | Fault
Application = Callable[[Request], Answer]


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # five connections wait by default, and a busy machine resets the sixth

    def __init__(self, application: Application) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.application = application
        self.over = threading.Event()
        self.connections = count()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True  # headers and body are written apart: the second would wait for a delayed ACK
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - the only one that makes handlers

    def setup(self) -> None:
        super().setup()
        self._connection_number = next(self.server.connections)

    def handle(self) -> None:
        with suppress(*_GONE):
            super().handle()

    def finish(self) -> None:
        with suppress(*_GONE):
            super().finish()

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        answer = self.server.application(Request(self.command, self.path, headers, body, self._connection_number))
        if isinstance(answer, Respond):
            body = answer.encoded()
            self._begin(answer.status, {"Content-Length": str(len(body)), **answer.headers})
            self.wfile.write(body)
        else:
            self.close_connection = True
            self._fail(answer)

    def _fail(self, fault: Fault) -> None:
        match fault:
            case Hang():
                self.server.over.wait()
            case Cut(part="request"):
                return
            case Reset():
                # A close that lingers for no time sends RST; the base class would shut down first, which sends FIN.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(self.connection.detach())
            case Cut(body=body):
                self._begin(200, {"Content-Length": str(len(body) * 2)})
                self.wfile.write(body)
            case Trickle():
                self._trickle(fault)
            case Huge(size):
                self._begin(200, {"Transfer-Encoding": "chunked"})
                block = b'"' + b"a" * 65_535
                for _ in range(size // len(block)):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
                self.wfile.write(b"0\r\n\r\n")

    def _trickle(self, fault: Trickle) -> None:
        if fault.part == "headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Padding: ")
        else:
            self._begin(200, {"Content-Length": "1000000"})
        while not self.server.over.wait(fault.interval):
            self.wfile.write(b"a" if fault.part == "headers" else b" ")

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""


@contextmanager
def serve(application: Application) -> Generator[str]:
    """Answer on ``http://127.0.0.1:PORT`` (the value given) until the block ends; every waiting fault ends with it."""
    server = _Server(application)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
