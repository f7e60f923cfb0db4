"""Tool servers, their tools, and what their registrar declares about them.

What a server says of itself (descriptions, annotations, schemas) is data of a stranger. Whether a call may be
repeated or its result kept is therefore declared by the registrar, never read from the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from botforge.domain.ids import BotId, ToolId, ToolServerId, UserId

JsonObject = Mapping[str, Any]

DEFAULT_TIMEOUT_S = 30
DEFAULT_RETRY_ATTEMPTS = 3
MAX_SERVERS_PER_BOT = 100
MAX_TOOLS_PER_SERVER = 256


class ToolProtocol(StrEnum):
    """What the registrar asked for."""

    AUTO = "auto"
    REST = "rest"
    MCP = "mcp"


class Dialect(StrEnum):
    """What the server was found to speak; remembered, so that a call needs no finding out."""

    REST = "rest"  # GET /capabilities, GET /tools, POST /execute
    MCP_STATELESS = "mcp-2026-07-28"  # no handshake, no session
    MCP_HANDSHAKE = "mcp-2025-11-25"  # initialize first; earlier revisions that the server asks for included


class Effect(StrEnum):
    """What calling a tool twice does, as the registrar declares it."""

    UNSAFE = "unsafe"  # the default: a second call may pay twice
    IDEMPOTENT = "idempotent"  # repeating one call, with its Idempotency-Key, changes nothing more
    READ_ONLY = "read_only"

    @property
    def repeatable(self) -> bool:
        return self is not Effect.UNSAFE


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What the registrar declares about one tool."""

    effect: Effect = Effect.UNSAFE
    cache_ttl_seconds: int = 0  # 0: a result is never kept


class CredentialKind(StrEnum):
    BEARER = "bearer"
    HEADER = "header"
    OAUTH = "oauth_client_credentials"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret in the clear; lives only as long as the call that needs it, and is never printed."""

    kind: CredentialKind
    secret: str = field(repr=False)  # the token, the header's value, or the client's secret
    header: str | None = None  # HEADER: its name
    token_url: str | None = None  # OAUTH
    client_id: str | None = None  # OAUTH
    scope: str | None = None  # OAUTH


class ServerStatus(StrEnum):
    UNKNOWN = "unknown"  # not checked yet
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"  # the last check failed
    OPEN = "open"  # so many checks failed that its tools are not offered until it recovers


@dataclass(frozen=True, slots=True)
class ServerHealth:
    status: ServerStatus = ServerStatus.UNKNOWN
    latency_ms: float | None = None
    consecutive_failures: int = 0
    checked_at: datetime | None = None
    error_code: str | None = None  # of the last failed check


@dataclass(frozen=True, slots=True)
class ToolServer:
    id: ToolServerId
    bot_id: BotId
    user_id: UserId
    name: str
    endpoint_url: str
    description: str
    is_active: bool
    timeout_seconds: int  # of one call, within the request's deadline
    retry_attempts: int  # further tries after the first, and only of what is safe to repeat
    protocol: ToolProtocol
    dialect: Dialect | None  # None: not found out yet
    policies: Mapping[str, ToolPolicy]  # by the tool's name; ``*`` for those that are not named
    sealed_credential: bytes | None = field(repr=False)  # encrypted; None: none is needed
    credential_kind: CredentialKind | None
    health: ServerHealth
    created_at: datetime
    updated_at: datetime

    def policy(self, tool_name: str) -> ToolPolicy:
        return self.policies.get(tool_name) or self.policies.get("*") or ToolPolicy()


class ToolStatus(StrEnum):
    ACTIVE = "active"
    NEEDS_REVIEW = "needs_review"  # new since the registration, or its definition changed since it was accepted
    DISABLED = "disabled"  # by its owner
    WITHDRAWN = "withdrawn"  # the server no longer lists it; active again once it does, unchanged


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as its server describes it, its schema normalised to what an LLM's API accepts."""

    name: str
    description: str
    input_schema: JsonObject  # JSON Schema, an object, no remote references
    digest: str  # SHA-256 over the definition as the server sent it
    output_schema: JsonObject | None = None
    header_parameters: Mapping[str, str] = field(default_factory=dict[str, str])  # MCP x-mcp-header: parameter → header


@dataclass(frozen=True, slots=True)
class Tool:
    id: ToolId
    server_id: ToolServerId
    bot_id: BotId
    definition: ToolDefinition  # the accepted one
    status: ToolStatus
    pending: ToolDefinition | None  # the one that waits for review; of a new tool, the same as ``definition``
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that may be called now, with the server that serves it."""

    server: ToolServer
    tool: Tool

    @property
    def policy(self) -> ToolPolicy:
        return self.server.policy(self.tool.definition.name)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a server said of itself."""

    dialect: Dialect
    server_name: str
    server_version: str
    tools: tuple[ToolDefinition, ...]
    notes: tuple[str, ...] = ()  # tools that were left out, and why, in sentences


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a server answered to a call."""

    text: str  # as the LLM reads it
    content: Any  # JSON: structured content where the server gives it, else the text
    is_error: bool  # the tool itself reports a failure (REST ``success: false``, MCP ``isError``)
    truncated: bool = False  # it was longer than a result may be, and was cut
