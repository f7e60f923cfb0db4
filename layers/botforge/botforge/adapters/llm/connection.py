"""An HTTP client for one call at a time, whose answer is bounded and which another thread can cut off.

The timeouts of an HTTP client bound single reads: an answer that trickles can take for ever. Only a socket that is
shut down ends it at once, wherever its reader waits.
"""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from socket import SHUT_RDWR, socket
from typing import Protocol

import httpx2


class ResponseRefused(httpx2.RequestError):
    """The response is larger than it may be, or compressed although that was not asked for."""


class Connection:
    """``http`` keeps its connection alive between calls and follows no redirect: a key goes where it was told to go."""

    def __init__(self, tls: ssl.SSLContext, *, max_response_bytes: int) -> None:
        self._max_response_bytes = max_response_bytes
        self._lock = threading.Lock()
        self._socket: socket | None = None
        self._cut = False
        self.answering = False  # the headers of the current call's response have arrived
        self.http = httpx2.Client(
            verify=tls,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},  # so that the bytes counted are the bytes kept
            limits=httpx2.Limits(max_connections=1, keepalive_expiry=30),
            event_hooks={"request": [self._prepare], "response": [self._bound]},
        )

    def cut(self) -> None:
        """End the current call, from any thread. The connection cannot be used afterwards."""
        with self._lock:
            self._cut = True
            _shut_down(self._socket)

    def close(self) -> None:
        """Free its sockets. To be called when no call runs."""
        self.http.close()
        self._replace(None)

    def _prepare(self, request: httpx2.Request) -> None:
        self.answering = False
        request.extensions["trace"] = self._trace

    def _bound(self, response: httpx2.Response) -> None:
        self.answering = True
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ResponseRefused("The response is compressed.", request=response.request)
        stream = response.stream
        assert isinstance(stream, httpx2.SyncByteStream), "a synchronous client made it"  # noqa: S101
        response.stream = _Bounded(stream, self._max_response_bytes)

    def _trace(self, event: str, info: Mapping[str, object]) -> None:
        if event == "connection.connect_tcp.complete":
            stream: _Stream = info["return_value"]  # pyright: ignore[reportAssignmentType] - httpcore2's NetworkStream
            opened = stream.get_extra_info("socket")
            assert isinstance(opened, socket)  # noqa: S101 - httpcore2's documentation of extra info
            # A duplicate: TLS detaches the original, and what is shut down on one is shut down on both.
            self._replace(opened.dup())

    def _replace(self, current: socket | None) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            self._socket = current
            if self._cut:
                _shut_down(current)


class _Stream(Protocol):
    def get_extra_info(self, info: str) -> object: ...


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        seen = 0
        for part in self._stream:
            seen += len(part)
            if seen > self._limit:
                raise ResponseRefused(f"The response is larger than {self._limit} bytes.")
            yield part

    def close(self) -> None:
        self._stream.close()


def _shut_down(connected: socket | None) -> None:
    if connected is not None:
        with suppress(OSError):  # the other side was first
            connected.shutdown(SHUT_RDWR)
