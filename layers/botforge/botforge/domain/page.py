"""A page of a list, and the opaque cursor that continues it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: Sequence[Item]
    next_cursor: str | None  # None: this was the last page
