"""One deadline for a whole request, handed down to everything that waits."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from botforge.domain.errors import DeadlineExceeded


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a monotonic clock (seconds) after which the work is worth nothing."""

    at: float
    monotonic: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> "Deadline":
        return cls(monotonic() + seconds, monotonic)

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - self.monotonic())

    def less(self, seconds: float) -> "Deadline":
        """An earlier deadline, which keeps ``seconds`` for what comes after."""
        return Deadline(self.at - seconds, self.monotonic)

    def check(self) -> None:
        """Raise DeadlineExceeded once the moment has passed."""
        if self.remaining() <= 0:
            raise DeadlineExceeded("The request took longer than its deadline.")
