"""How long each stage of a request took."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stages:
    """Milliseconds by stage; a stage that runs twice is summed."""

    monotonic: Callable[[], float] = time.monotonic
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        start = self.monotonic()
        try:
            yield
        finally:
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + (self.monotonic() - start) * 1000
