"""Blocking calls that end on time for their caller, whatever the library beneath does.

The timeouts of HTTP clients bound single reads and single attempts. An answer that trickles, a name that does not
resolve or a pause before a retry can outlast any deadline.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from botforge.domain.deadline import Deadline

T = TypeVar("T")


class Overdue(Exception):
    """The deadline passed first. The call may still run; what it returns or raises is lost."""

    def __init__(self, call: "Future[Any] | None") -> None:
        super().__init__("the call did not end before its deadline")
        self._call = call

    def when_over(self, action: Callable[[], object]) -> None:
        """Run ``action`` once the call has ended, in whichever thread notices; at once if it never began."""
        if self._call is None:
            action()
        else:
            self._call.add_done_callback(lambda _: action())


class Calls:
    """Runs each call in a thread of its own, at most ``limit`` at once, those left behind included."""

    def __init__(self, name: str, *, limit: int) -> None:
        self._name = name  # of the threads
        self._free = threading.BoundedSemaphore(limit)

    def run(self, call: Callable[[], T], deadline: Deadline) -> T:
        """What ``call`` returns or raises. Raises Overdue at the deadline, also while waiting for a free place."""
        if not self._free.acquire(timeout=deadline.remaining()):
            raise Overdue(None)
        result: Future[T] = Future()

        def work() -> None:
            try:
                result.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                result.set_exception(error)
            finally:
                self._free.release()

        # A daemon, so that a call left behind never holds up the end of the process.
        threading.Thread(target=work, name=self._name, daemon=True).start()
        done, _ = wait([result], timeout=deadline.remaining())
        if not done:
            raise Overdue(result)
        return result.result()
