"""A cache: it may forget at any time, and its failure is a miss."""

from typing import Protocol


class Cache(Protocol):
    """Never raises and never waits longer than 50 ms: a dead or slow cache is a miss."""

    def get(self, key: str) -> bytes | None: ...

    def set(self, key: str, value: bytes, *, ttl: int) -> None:
        """Keep ``value`` for at most ``ttl`` seconds."""
        ...
