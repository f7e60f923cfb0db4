"""A cache that execution environments share: Redis, Valkey, or what speaks their protocol."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from redis.backoff import NoBackoff
from redis.connection import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

_logger = logging.getLogger(__name__)

Command = tuple[str | bytes | int, ...]


class RedisCache:
    """A cache of which every call ends within ``timeout_s``, whatever the server or the network does.

    Socket timeouts alone cannot promise that: they start again with every byte, and a name lookup has none. So the
    one connection belongs to a thread of its own, and a caller waits only so long for it. After a failure every
    call is a miss for ``pause_s``, at no cost, until one call tries again. A connection is used again only after a
    complete reply: one that was given up on is closed, or its late reply would answer the next question.

    ``url``: ``redis://`` or ``rediss://`` (TLS, the certificate and its name are checked). Keys are stored under
    ``prefix``; values above ``max_value_bytes`` are neither stored nor returned.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "botforge:",
        timeout_s: float = 0.04,
        pause_s: float = 5.0,
        max_value_bytes: int = 1024 * 1024,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prefix = prefix
        self._timeout = timeout_s
        self._pause = pause_s
        self._max_value_bytes = max_value_bytes
        self._monotonic = monotonic
        self._paused_until = float("-inf")
        pool = ConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options are untyped
            url,
            protocol=2,  # no HELLO, and no pushed messages between replies
            driver_info=None,  # no CLIENT SETINFO: two round trips less
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
        self._connection: Any = pool.make_connection()  # opened by the first command
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cache")
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        value = self._call(("GET", self._name(key)))
        return value if isinstance(value, bytes) and len(value) <= self._max_value_bytes else None

    def set(self, key: str, value: bytes, *, ttl: int) -> None:
        if ttl > 0 and len(value) <= self._max_value_bytes:
            self._call(("SET", self._name(key), value, "EX", ttl))

    def close(self) -> None:
        """Close the connection and end its thread."""
        self._connection.disconnect()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _name(self, key: str) -> bytes:
        return (self._prefix + key).encode("utf-8", "surrogatepass")

    def _call(self, command: Command) -> bytes | None:
        """The server's reply; None if it has none, or does not answer."""
        if self._monotonic() < self._paused_until:
            return None
        future: Future[bytes | None] = self._worker.submit(self._exchange, command, self._monotonic() + self._timeout)
        try:
            return future.result(timeout=self._timeout)
        except TimeoutError:
            future.cancel()
            self._connection.disconnect()  # wakes the thread, should it still be reading
            self._rest("it took too long")
        except Exception as error:  # noqa: BLE001 - no failure of a cache is worth more than a miss
            self._rest(type(error).__name__)
        return None

    def _exchange(self, command: Command, deadline: float) -> bytes | None:
        """Send a command and read its reply, on the connection's own thread."""
        if self._connection.is_connected:
            try:
                return self._round_trip(command)
            except RedisConnectionError:  # closed while we were idle or frozen: a new one may do
                pass
        if self._monotonic() >= deadline:
            return None  # nobody waits for it any more
        return self._round_trip(command)

    def _round_trip(self, command: Command) -> bytes | None:
        try:
            self._connection.send_command(*command)
            return _checked(self._connection.read_response(disable_decoding=True))
        except BaseException:
            self._connection.disconnect()
            raise

    def _rest(self, why: str) -> None:
        with self._lock:
            self._paused_until = self._monotonic() + self._pause
        _logger.warning("The cache does not answer (%s); every look-up is a miss for %s s.", why, self._pause)


def _checked(reply: object) -> bytes | None:
    if reply is None or isinstance(reply, bytes):
        return reply
    raise TypeError("a cache replies with bytes or nothing")
