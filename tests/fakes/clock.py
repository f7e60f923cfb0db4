"""A clock that stands still until it is moved."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(slots=True)
class FixedClock:
    moment: datetime = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    elapsed: float = 0.0

    def now(self) -> datetime:
        return self.moment + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed
