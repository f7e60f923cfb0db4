"""Bodies of ``/api/mcp/register`` and ``/api/mcp/servers``."""

from collections.abc import Mapping
from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, Field, SecretStr, model_validator

from botforge.domain.credential_header import header_problem, is_header_value
from botforge.domain.tool import (
    DEFAULT_RETRY_ATTEMPTS,
    DEFAULT_TIMEOUT_S,
    MAX_TOOLS_PER_SERVER,
    Credential,
    CredentialKind,
    Dialect,
    Effect,
    ServerStatus,
    Tool,
    ToolPolicy,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.http.schemas.fields import Description, Moment, Name, ReplyBody, RequestBody, Text, VisibleText
from botforge.services.registration import UNCHANGED, RegisteredServer, ServerChanges, ServerDraft

_MAX_BRIEF = 300  # characters of a description beside its server
_NEEDED: dict[CredentialKind, frozenset[str]] = {
    CredentialKind.BEARER: frozenset(),
    CredentialKind.HEADER: frozenset({"header"}),
    CredentialKind.OAUTH: frozenset({"token_url", "client_id"}),
}


def _sendable(secret: SecretStr) -> SecretStr:
    if not is_header_value(secret.get_secret_value()):
        raise ValueError("must be printable ASCII, without spaces around it")
    return secret


def _header_name(name: str) -> str:
    if problem := header_problem(name):
        raise ValueError(f"the header {problem}")
    return name


Endpoint = Annotated[Text, Field(min_length=1, max_length=2_048)]
Timeout = Annotated[int, Field(ge=1, le=60, description="Seconds of one call, within the request's own 25.")]
Retries = Annotated[int, Field(ge=0, le=5, description="Further tries, and only of what is safe to repeat.")]
ToolName = Annotated[VisibleText, Field(max_length=200)]


class PolicyBody(RequestBody):
    """What the registrar declares about a tool; a tool's own word is not believed."""

    read_only: bool = Field(default=False, description="Calling it changes nothing.")
    idempotent: bool = Field(
        default=False, description="Repeating a call with its Idempotency-Key changes nothing more."
    )
    cache_ttl_seconds: Annotated[int, Field(ge=0, le=24 * 3600)] = 0

    @model_validator(mode="after")
    def _caches_what_only_reads(self) -> Self:
        if self.cache_ttl_seconds and not self.read_only:
            raise ValueError("only the result of a read_only tool can be kept")
        return self

    def policy(self) -> ToolPolicy:
        effect = Effect.READ_ONLY if self.read_only else Effect.IDEMPOTENT if self.idempotent else Effect.UNSAFE
        return ToolPolicy(effect, self.cache_ttl_seconds)


Policies = Annotated[
    dict[ToolName, PolicyBody],
    Field(max_length=MAX_TOOLS_PER_SERVER, description="By tool name; `*` stands for those that are not named."),
]


class CredentialBody(RequestBody):
    """Taken, sealed and used; never shown again."""

    kind: CredentialKind
    secret: Annotated[SecretStr, Field(min_length=1, max_length=2_048), AfterValidator(_sendable)]
    header: Annotated[str, AfterValidator(_header_name)] | None = None
    token_url: Endpoint | None = None
    client_id: Annotated[VisibleText, Field(max_length=500)] | None = None
    scope: Annotated[VisibleText, Field(max_length=500)] | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        optional = {"scope"} if self.kind is CredentialKind.OAUTH else set[str]()
        given = {name for name in ("header", "token_url", "client_id", "scope") if getattr(self, name) is not None}
        if missing := _NEEDED[self.kind] - given:
            raise ValueError(f"this kind of credential needs: {', '.join(sorted(missing))}")
        if needless := given - _NEEDED[self.kind] - optional:
            raise ValueError(f"this kind of credential has no: {', '.join(sorted(needless))}")
        return self

    def credential(self) -> Credential:
        return Credential(
            self.kind, self.secret.get_secret_value(), self.header, self.token_url, self.client_id, self.scope
        )


class ServerRegistration(RequestBody):
    bot_id: UUID
    name: Name
    endpoint_url: Endpoint
    description: Description = ""
    timeout_seconds: Timeout = DEFAULT_TIMEOUT_S
    retry_attempts: Retries = DEFAULT_RETRY_ATTEMPTS
    protocol: ToolProtocol = ToolProtocol.AUTO
    policies: Policies = Field(default_factory=dict[str, PolicyBody])
    credential: CredentialBody | None = None

    def draft(self) -> ServerDraft:
        return ServerDraft(
            name=self.name,
            endpoint_url=self.endpoint_url,
            description=self.description,
            timeout_seconds=self.timeout_seconds,
            retry_attempts=self.retry_attempts,
            protocol=self.protocol,
            policies=_policies(self.policies),
            credential=self.credential.credential() if self.credential else None,
        )


class ServerChange(RequestBody):
    """Fields that are left out stay as they are. ``credential: null`` takes it away."""

    name: Name | None = None
    endpoint_url: Endpoint | None = Field(default=None, description="A new one drops the credential of the old one.")
    description: Description | None = None
    is_active: bool | None = None
    timeout_seconds: Timeout | None = None
    retry_attempts: Retries | None = None
    protocol: ToolProtocol | None = None
    policies: Policies | None = None
    credential: CredentialBody | None = None

    def changes(self) -> ServerChanges:
        given = self.credential.credential() if self.credential else None
        return ServerChanges(
            name=self.name,
            endpoint_url=self.endpoint_url,
            description=self.description,
            is_active=self.is_active,
            timeout_seconds=self.timeout_seconds,
            retry_attempts=self.retry_attempts,
            protocol=self.protocol,
            policies=None if self.policies is None else _policies(self.policies),
            credential=given if "credential" in self.model_fields_set else UNCHANGED,
        )


class PolicyReply(ReplyBody):
    read_only: bool
    idempotent: bool
    cache_ttl_seconds: int

    @classmethod
    def of(cls, policy: ToolPolicy) -> "PolicyReply":
        return cls(
            read_only=policy.effect is Effect.READ_ONLY,
            idempotent=policy.effect.repeatable,
            cache_ttl_seconds=policy.cache_ttl_seconds,
        )


class ServerHealthReply(ReplyBody):
    status: ServerStatus
    latency_ms: float | None
    consecutive_failures: int
    checked_at: Moment | None
    error_code: str | None


class ServerReply(ReplyBody):
    id: UUID
    bot_id: UUID
    name: str
    endpoint_url: str
    description: str
    is_active: bool
    timeout_seconds: int
    retry_attempts: int
    protocol: ToolProtocol
    dialect: Dialect | None
    policies: dict[str, PolicyReply]
    credential_kind: CredentialKind | None  # that there is one is all that is shown of it
    health: ServerHealthReply
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, server: ToolServer) -> "ServerReply":
        return cls(
            id=server.id,
            bot_id=server.bot_id,
            name=server.name,
            endpoint_url=server.endpoint_url,
            description=server.description,
            is_active=server.is_active,
            timeout_seconds=server.timeout_seconds,
            retry_attempts=server.retry_attempts,
            protocol=server.protocol,
            dialect=server.dialect,
            policies={name: PolicyReply.of(policy) for name, policy in server.policies.items()},
            credential_kind=server.credential_kind,
            health=ServerHealthReply.model_validate(server.health),
            created_at=server.created_at,
            updated_at=server.updated_at,
        )


class BriefToolReply(ReplyBody):
    """A tool beside its server; ``GET /api/mcp/tools`` has the whole of it."""

    id: UUID
    name: str
    description: str
    status: ToolStatus

    @classmethod
    def of(cls, tool: Tool) -> "BriefToolReply":
        text = tool.definition.description
        brief = text if len(text) <= _MAX_BRIEF else text[: _MAX_BRIEF - 1] + "…"
        return cls(id=tool.id, name=tool.definition.name, description=brief, status=tool.status)


class RegisteredServerReply(ServerReply):
    tools: list[BriefToolReply]
    notes: list[str]  # what was left out or has no effect

    @classmethod
    def of_registered(cls, registered: RegisteredServer) -> "RegisteredServerReply":
        server = ServerReply.of(registered.server)
        return cls(
            **dict(server),
            tools=[BriefToolReply.of(tool) for tool in registered.tools],
            notes=list(registered.notes),
        )


class ServerPage(ReplyBody):
    items: list[ServerReply]
    next_cursor: str | None


def _policies(bodies: Mapping[str, PolicyBody]) -> dict[str, ToolPolicy]:
    return {name: body.policy() for name, body in bodies.items()}
