"""An HTTP client that reaches the vetted addresses of one endpoint and nothing else, and whose answers are bounded.

Importing this module costs what importing ``httpx2`` costs; only a call does so.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import cast

import httpcore2
import httpx2

from botforge.adapters.tools.attempt import COMPRESSED, REDIRECTED, TOO_LARGE, Attempt, Failure
from botforge.adapters.tools.egress import VettedEndpoint

_MAX_HEADER_BYTES = 32 * 1024  # httpcore2 itself gives up at 100 KB
_CONNECT_TIMEOUT_S = 5.0  # of one address, so that a lost packet leaves time for the next
_CLOSING_TIMEOUT_S = 2.0  # of the request that ends a session, whose answer nobody needs


class AnswerRefused(httpx2.RequestError):
    """We ended the answer; the attempt says why."""


class _TooMuch(httpcore2.ReadError):
    """More bytes came over one connection than may."""


class VettedBackend(httpcore2.AsyncNetworkBackend):
    """Opens TCP connections to an endpoint's vetted addresses, whatever its name resolves to now."""

    def __init__(self, endpoint: VettedEndpoint, *, max_bytes: int, dial: httpcore2.AsyncNetworkBackend) -> None:
        self._endpoint = endpoint
        self._max_bytes = max_bytes  # of one connection
        self._dial = dial

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        if (host, port) != (self._endpoint.url.host, self._endpoint.url.port):
            raise httpcore2.ConnectError("This client serves one endpoint only.")
        failure: Exception = httpcore2.ConnectError("No address was tried.")
        for address in self._endpoint.addresses:
            seconds = _CONNECT_TIMEOUT_S if timeout is None else min(timeout, _CONNECT_TIMEOUT_S)
            try:
                stream = await self._dial.connect_tcp(str(address), port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _Counted(stream, self._max_bytes)
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._dial.sleep(seconds)


class _Counted(httpcore2.AsyncNetworkStream):
    """Bounds what is received over one connection, headers included."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface
        part = await self._stream.read(max_bytes, timeout)
        self._left -= len(part)
        if self._left < 0:
            raise _TooMuch(TOO_LARGE.message)
        return part

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the interface
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface
    ) -> httpcore2.AsyncNetworkStream:
        return _Counted(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._left)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class VettedTransport(httpx2.AsyncBaseTransport):
    """httpcore2's connection pool over a VettedBackend: no proxy, no redirect, no compressed answer."""

    def __init__(self, backend: VettedBackend, attempt: Attempt, *, tls: ssl.SSLContext | None) -> None:
        self._attempt = attempt
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=tls, network_backend=backend)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":  # ends a session; the result is there already, and does not wait for it
            async with asyncio.timeout(_CLOSING_TIMEOUT_S):
                return await self._handle(request)
        return await self._handle(request)

    async def _handle(self, request: httpx2.Request) -> httpx2.Response:
        watched = self._attempt if self._attempt.takes(request.method, await request.aread()) else Attempt()
        try:
            response = await self._pool.handle_async_request(_outgoing(request, watched))
        except Exception as error:
            raise _translated(error, watched) from error
        watched.status, watched.complete = response.status, False
        if failure := _unacceptable(response):
            watched.refused = failure
            await response.aclose()
            raise AnswerRefused(failure.message, request=request)
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Answer(response, watched),
            extensions=cast("dict[str, object]", response.extensions),  # pyright: ignore[reportUnknownMemberType]
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Answer(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response, attempt: Attempt) -> None:
        self._response = response
        self._attempt = attempt

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._response.aiter_stream():
                yield part
        except Exception as error:
            raise _translated(error, self._attempt) from error
        self._attempt.complete = True

    async def aclose(self) -> None:
        await self._response.aclose()


def client(
    endpoint: VettedEndpoint,
    attempt: Attempt,
    *,
    headers: Mapping[str, str],
    tls: ssl.SSLContext | None,
    max_bytes: int,
    dial: httpcore2.AsyncNetworkBackend | None = None,
) -> httpx2.AsyncClient:
    """A client for one exchange, without timeouts for an answer: its user has one deadline for everything."""
    backend = VettedBackend(endpoint, max_bytes=max_bytes, dial=dial or _system_dial())
    return httpx2.AsyncClient(
        transport=VettedTransport(backend, attempt, tls=tls),
        headers={"Accept-Encoding": "identity", "User-Agent": "botforge", **headers},
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        follow_redirects=False,
        trust_env=False,
    )


def _system_dial() -> httpcore2.AsyncNetworkBackend:
    return cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())  # typed as if anyio could be missing


def _outgoing(request: httpx2.Request, attempt: Attempt) -> httpcore2.Request:
    """``request`` as httpcore2's, and ``attempt`` told when it leaves."""

    async def trace(event: str, _: Mapping[str, object]) -> None:
        if event == "http11.send_request_headers.started":
            attempt.sending()

    stream = request.stream
    assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client made it
    url = httpcore2.URL(
        scheme=request.url.raw_scheme,
        host=request.url.raw_host,
        port=request.url.port,
        target=request.url.raw_path,
    )
    extensions: dict[str, object] = {"trace": trace}
    return httpcore2.Request(
        method=request.method,
        url=url,
        headers=request.headers.raw,
        content=stream,
        extensions=request.extensions | extensions,
    )


def _unacceptable(response: httpcore2.Response) -> Failure | None:
    if sum(len(name) + len(value) + 4 for name, value in response.headers) > _MAX_HEADER_BYTES:
        return TOO_LARGE
    if 300 <= response.status < 400:
        return REDIRECTED
    encodings = [value.strip().lower() for name, value in response.headers if name.lower() == b"content-encoding"]
    if any(encoding not in (b"", b"identity") for encoding in encodings):
        return COMPRESSED
    return None


_TRANSLATIONS: tuple[tuple[type[Exception], type[httpx2.RequestError]], ...] = (
    (httpcore2.ConnectTimeout, httpx2.ConnectTimeout),
    (httpcore2.ConnectError, httpx2.ConnectError),
    (httpcore2.TimeoutException, httpx2.ReadTimeout),
    (httpcore2.LocalProtocolError, httpx2.LocalProtocolError),
    (httpcore2.RemoteProtocolError, httpx2.RemoteProtocolError),
    (httpcore2.NetworkError, httpx2.ReadError),
)


def _translated(error: Exception, attempt: Attempt) -> Exception:
    """httpcore2's errors as httpx2's, as its own transport does."""
    if isinstance(error, _TooMuch):
        attempt.refused = TOO_LARGE
    return next((new(str(error)) for old, new in _TRANSLATIONS if isinstance(error, old)), error)
