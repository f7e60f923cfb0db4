"""Running one exchange with a tool server: its address vetted, its end bounded, its outcome told.

An exchange runs in a thread of its own with an event loop of its own, which ends with it: nothing stays that a frozen
environment could kill, and a connection is never reused that died meanwhile (a request that is lost on one is a request
of which nobody knows whether it arrived).
"""

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from botforge.adapters.overdue import Calls, Overdue
from botforge.adapters.tools.attempt import (
    BROKEN_OFF,
    INVALID,
    TIMED_OUT,
    UNREACHABLE,
    UNSENDABLE,
    Abandoned,
    Attempt,
    Failure,
)
from botforge.adapters.tools.egress import EgressGuard, VettedEndpoint
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError

if TYPE_CHECKING:
    import httpcore2
    import httpx2

T = TypeVar("T")
_TELLING = (UNSENDABLE, UNREACHABLE, TIMED_OUT, BROKEN_OFF, INVALID)  # of several failures, the first says most

MAX_ANSWER_BYTES = 2 * 1024 * 1024  # over one connection, headers included
_MAX_EXCHANGES = 64  # at once, those included whose deadline has passed and that have not noticed yet


@dataclass(slots=True)
class Exchange(Generic[T]):
    """What an exchange works with, and where it leaves its answer.

    What fails after the answer is there (the end of a session, a server that dies) takes nothing from it.
    """

    http: "httpx2.AsyncClient"  # reaches this endpoint alone
    endpoint: VettedEndpoint
    attempt: Attempt
    answers: list[T] = field(default_factory=list[T])

    def answer(self, value: T) -> None:
        self.answers.append(value)


Work = Callable[[Exchange[T]], Awaitable[None]]


class Exchanges:
    """``dial`` opens the connections to vetted addresses (tests put a recorder there)."""

    def __init__(
        self,
        guard: EgressGuard,
        *,
        tls: ssl.SSLContext | None = None,
        dial: "httpcore2.AsyncNetworkBackend | None" = None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._guard = guard
        self._tls = tls
        self._tls_lock = threading.Lock()
        self._dial = dial
        self._max_answer_bytes = max_answer_bytes
        self._calls = Calls("tool-exchange", limit=_MAX_EXCHANGES)

    def run(self, url: str, work: Work[T], *, headers: Mapping[str, str], deadline: Deadline) -> T:
        """The answer that ``work`` gives. Its client sends ``headers`` with every request, and reaches ``url`` alone.

        Raises EgressRefused, and ToolServerError for everything that goes wrong between here and the server.
        """
        attempt = Attempt()
        answers: list[T] = []

        def exchange() -> None:
            endpoint = self._guard.vet(url)
            asyncio.run(self._converse(endpoint, work, attempt, answers, headers, deadline))

        try:
            self._calls.run(exchange, deadline)
        except Overdue as overdue:
            attempt.abandon()
            if not answers:
                raise attempt.error(TIMED_OUT) from overdue
        except Exception as error:
            if not answers:
                raise _told(error, attempt) from error
        return answers[0]

    async def _converse(
        self,
        endpoint: VettedEndpoint,
        work: Work[T],
        attempt: Attempt,
        answers: list[T],
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> None:
        from botforge.adapters.tools.vetted_http import client

        tls = self._context() if endpoint.url.scheme == "https" else None
        limit = self._max_answer_bytes
        async with (
            asyncio.timeout(deadline.remaining()),
            client(endpoint, attempt, headers=headers, tls=tls, max_bytes=limit, dial=self._dial) as http,
        ):
            await work(Exchange(http, endpoint, attempt, answers))

    def _context(self) -> ssl.SSLContext:
        """Made once: it reads every root certificate."""
        import httpx2

        with self._tls_lock:
            if self._tls is None:
                self._tls = httpx2.create_ssl_context()
            return self._tls


def _told(error: Exception, attempt: Attempt) -> BotForgeError:
    """``error`` in our words. Whatever it is, it came while a stranger's bytes were read: they may have caused it."""
    leaves = _leaves(error)
    known = next((leaf for leaf in leaves if isinstance(leaf, BotForgeError)), None)
    return known or attempt.error(min((_failure(leaf) for leaf in leaves), key=_TELLING.index))


def _leaves(error: BaseException) -> list[BaseException]:
    """The errors within an exception group: task groups raise nothing else."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for part in group.exceptions for leaf in _leaves(part)]


def _failure(error: BaseException) -> Failure:
    """What an exception of the libraries beneath means."""
    import httpx2

    match error:
        case TimeoutError() | httpx2.ReadTimeout() | Abandoned():
            return TIMED_OUT
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            return UNREACHABLE
        case httpx2.LocalProtocolError():
            return UNSENDABLE
        case httpx2.TransportError() | httpx2.StreamError():
            return BROKEN_OFF
        case _:
            return INVALID
