"""Talking to a registered tool server, and keeping its secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from botforge.domain.deadline import Deadline
from botforge.domain.tool import Credential, Dialect, Discovery, ToolProtocol, ToolResult


@dataclass(frozen=True, slots=True)
class Endpoint:
    """All that a transport may know of a server."""

    url: str
    protocol: ToolProtocol
    dialect: Dialect | None  # what discovery found; None: find out
    credential: Credential | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    tool_name: str  # as the server knows it
    arguments: Mapping[str, Any]
    header_parameters: Mapping[str, str]  # ToolDefinition's
    idempotency_key: str | None  # sent as Idempotency-Key; None: the tool was not declared idempotent


class ToolTransport(Protocol):
    """Reaches nothing but the vetted addresses of ``endpoint.url``; follows no redirect; ends by the deadline.

    Both methods raise EgressRefused for an address that we do not connect to, and ToolServerError, whose ``delivery``
    says what is known about the request. Neither repeats a request that may have arrived.
    """

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        """Which dialect the server speaks and which tools it has, within bounds of pages, tools, bytes and time."""
        ...

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        """Send one call, once. A result larger than its bound (256 KB) is cut and marked."""
        ...


class Vault(Protocol):
    """Encrypts credentials at rest. ``context`` binds a ciphertext to its owner: another context cannot open it."""

    def seal(self, plaintext: bytes, *, context: Mapping[str, str]) -> bytes:
        """Raises VaultUnavailable."""
        ...

    def open(self, sealed: bytes, *, context: Mapping[str, str]) -> bytes:
        """Raises VaultUnavailable, also for a ciphertext that was made for another context or altered."""
        ...
