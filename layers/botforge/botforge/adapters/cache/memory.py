"""A cache inside the process: it lives as long as its execution environment."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Entry:
    value: bytes
    expires_at: float  # on the monotonic clock
    size: int  # bytes of key and value


class MemoryCache:
    """Least recently used goes first, by number and by size; a value larger than ``max_bytes`` is not kept."""

    def __init__(
        self,
        *,
        max_entries: int = 1_024,
        max_bytes: int = 16 * 1024 * 1024,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._monotonic = monotonic
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.expires_at <= self._monotonic():
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return entry.value

    def set(self, key: str, value: bytes, *, ttl: int) -> None:
        size = len(key.encode("utf-8", "surrogatepass")) + len(value)
        with self._lock:
            self._drop(key)
            if ttl <= 0 or size > self._max_bytes:
                return
            self._entries[key] = _Entry(bytes(value), self._monotonic() + ttl, size)
            self._bytes += size
            while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size
