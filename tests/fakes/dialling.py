"""Connections to vetted addresses, noted and turned to loopback: tests reach nothing else, whatever is dialled."""

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from socket import create_server
from typing import cast

import httpcore2

from botforge.adapters.tools.egress import Resolve

PUBLIC = "93.184.215.14"


@dataclass(slots=True)
class Canary:
    """A listener that counts who came."""

    port: int = 0
    hits: int = 0


@contextmanager
def canary() -> Generator[Canary]:
    state = Canary()
    listening = create_server(("127.0.0.1", 0))
    state.port = listening.getsockname()[1]

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            state.hits += 1
            connection.close()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield state
    finally:
        listening.shutdown(2)  # wakes accept
        listening.close()
        thread.join()


@dataclass(slots=True)
class Dial(httpcore2.AsyncNetworkBackend):
    """Every connection goes to ``port`` of 127.0.0.1; ``dialled`` says where it was meant to go."""

    port: int
    dialled: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    refusing: frozenset[str] = frozenset()  # addresses at which nobody listens

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        if host in self.refusing:
            raise httpcore2.ConnectError("refused")
        system = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())
        return await system.connect_tcp("127.0.0.1", self.port, timeout, local_address, socket_options)


@dataclass(slots=True)
class Names:
    """A resolver: each look-up of a name takes its next answer; the last one stays."""

    answers: dict[str, list[Sequence[str]]]
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, host: str, port: int) -> Sequence[str]:
        del port
        self.asked.append(host)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def always(*addresses: str) -> Resolve:
    """A resolver that gives these addresses for every name."""

    def answer(host: str, port: int) -> Sequence[str]:
        del host, port
        return addresses

    return answer


def failing(error: OSError) -> Resolve:
    def fail(host: str, port: int) -> Sequence[str]:
        del host, port
        raise error

    return fail
