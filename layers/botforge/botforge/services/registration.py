"""Tool servers: registered with what they say of themselves, changed, looked at again, deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from uuid import uuid4

from botforge.domain.deadline import Deadline
from botforge.domain.errors import EgressRefused, NotFound, ToolServerError
from botforge.domain.ids import BotId, ToolServerId, UserId
from botforge.domain.page import Page
from botforge.domain.tool import (
    MAX_TOOLS_PER_SERVER,
    Credential,
    Discovery,
    ServerHealth,
    ServerStatus,
    Tool,
    ToolPolicy,
    ToolProtocol,
    ToolServer,
)
from botforge.domain.tool_review import changed_tools, new_tool
from botforge.ports.clock import Clock
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import Bots, ToolServers
from botforge.ports.tools import Endpoint, ToolTransport
from botforge.services.tool_credentials import ToolCredentials
from botforge.services.tool_embedding import tool_vectors

_AFTER_DISCOVERY_S = 8.0  # of the request's time, to embed and to save what was found


class Unchanged(Enum):
    """What a change leaves as it is, where None already means: take it away."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED


@dataclass(frozen=True, slots=True)
class ServerDraft:
    """What a registrar says of a server."""

    name: str
    endpoint_url: str
    description: str
    timeout_seconds: int
    retry_attempts: int
    protocol: ToolProtocol
    policies: Mapping[str, ToolPolicy]
    credential: Credential | None


@dataclass(frozen=True, slots=True)
class ServerChanges:
    """What an owner may change; None leaves a field as it is."""

    name: str | None = None
    endpoint_url: str | None = None
    description: str | None = None
    is_active: bool | None = None
    timeout_seconds: int | None = None
    retry_attempts: int | None = None
    protocol: ToolProtocol | None = None
    policies: Mapping[str, ToolPolicy] | None = None
    credential: Credential | Unchanged | None = UNCHANGED


@dataclass(frozen=True, slots=True)
class RegisteredServer:
    server: ToolServer
    tools: Sequence[Tool]
    notes: tuple[str, ...] = ()  # what was left out or has no effect, in sentences


@dataclass(frozen=True, slots=True)
class RegistrationService:
    bots: Bots
    servers: ToolServers
    transport: ToolTransport
    credentials: ToolCredentials
    embedder: Embedder
    clock: Clock

    def register(self, user_id: UserId, bot_id: BotId, draft: ServerDraft, *, deadline: Deadline) -> RegisteredServer:
        """The server and all its tools, or nothing.

        Raises NotFound for a bot that is not the user's, before anything is sent; EgressRefused and ToolServerError
        for an address that we do not connect to, or that gives no usable answer; Conflict, VaultUnavailable,
        EmbeddingUnavailable.
        """
        self._check_bot(user_id, bot_id)
        server_id = ToolServerId(uuid4())
        # Sealed first: a secret that cannot be kept is not sent out either.
        sealed = self.credentials.seal(user_id, server_id, draft.credential) if draft.credential else None
        endpoint = Endpoint(draft.endpoint_url, draft.protocol, None, draft.credential)
        discovery, health = self._look(endpoint, deadline)
        now = self.clock.now()
        server = ToolServer(
            id=server_id,
            bot_id=bot_id,
            user_id=user_id,
            name=draft.name,
            endpoint_url=draft.endpoint_url,
            description=draft.description,
            is_active=True,
            timeout_seconds=draft.timeout_seconds,
            retry_attempts=draft.retry_attempts,
            protocol=draft.protocol,
            dialect=discovery.dialect,
            policies=draft.policies,
            sealed_credential=sealed,
            credential_kind=draft.credential.kind if draft.credential else None,
            health=health,
            created_at=now,
            updated_at=now,
        )
        tools = [new_tool(server_id, bot_id, definition, now, accepted=True) for definition in discovery.tools]
        vectors = tool_vectors(self.embedder, [tool.definition for tool in tools], deadline)
        self.servers.create(server, tools, vectors)
        return RegisteredServer(server, tools, (*discovery.notes, *_idle_policies(server, tools)))

    def get(self, user_id: UserId, bot_id: BotId, server_id: ToolServerId) -> RegisteredServer:
        server = self._owned(user_id, server_id)
        if server.bot_id != bot_id:
            raise _unknown_server()
        return RegisteredServer(server, self.servers.tools_of(user_id, server_id))

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[ToolServer]:
        self._check_bot(user_id, bot_id)
        return self.servers.list(user_id, bot_id, limit=limit, cursor=cursor)

    def change(
        self, user_id: UserId, server_id: ToolServerId, changes: ServerChanges, *, deadline: Deadline
    ) -> RegisteredServer:
        """A new address, protocol or credential is tried out first; what the server lists then is reviewed as ever.

        A credential was given for one address: it is dropped with it, unless a new one comes along.
        """
        server = self._owned(user_id, server_id)
        changed = self._sealed(_changed(server, changes), server, changes)
        look_again = (
            changed.endpoint_url != server.endpoint_url
            or changed.protocol is not server.protocol
            or isinstance(changes.credential, Credential)
        )
        if look_again:
            return self._looked_at(changed, deadline)
        return self._saved(changed, ())

    def refresh(self, user_id: UserId, server_id: ToolServerId, *, deadline: Deadline) -> RegisteredServer:
        """Look at the server now. What it has changed or added waits for review; a circuit that was open closes."""
        return self._looked_at(self._owned(user_id, server_id), deadline)

    def delete(self, user_id: UserId, server_id: ToolServerId) -> None:
        """The server, its tools and its credential are gone; its executions stay."""
        self._owned(user_id, server_id)
        if not self.servers.delete(user_id, server_id):
            raise _unknown_server()

    def _looked_at(self, server: ToolServer, deadline: Deadline) -> RegisteredServer:
        credential = self.credentials.open(server)
        endpoint = Endpoint(server.endpoint_url, server.protocol, None, credential)  # it may have learnt a new dialect
        discovery, health = self._look(endpoint, deadline)
        known = self.servers.tools_of(server.user_id, server.id)
        changed = changed_tools(server.id, server.bot_id, known, discovery.tools, self.clock.now())
        return self._saved(replace(server, dialect=discovery.dialect, health=health), changed, discovery.notes)

    def _saved(self, server: ToolServer, changed: Sequence[Tool], notes: tuple[str, ...] = ()) -> RegisteredServer:
        saved = self.servers.update(server, changed)
        if saved is None:
            raise _unknown_server()
        tools = self.servers.tools_of(saved.user_id, saved.id)
        return RegisteredServer(saved, tools, (*notes, *_idle_policies(saved, tools)))

    def _look(self, endpoint: Endpoint, deadline: Deadline) -> tuple[Discovery, ServerHealth]:
        start = self.clock.monotonic()
        try:
            discovery = self.transport.discover(endpoint, deadline=deadline.less(_AFTER_DISCOVERY_S))
        except (EgressRefused, ToolServerError) as error:
            error.field = error.field or "endpoint_url"
            raise
        latency_ms = (self.clock.monotonic() - start) * 1000
        return bounded(discovery), ServerHealth(ServerStatus.HEALTHY, latency_ms, 0, self.clock.now(), None)

    def _sealed(self, changed: ToolServer, server: ToolServer, changes: ServerChanges) -> ToolServer:
        if isinstance(changes.credential, Credential):
            sealed = self.credentials.seal(server.user_id, server.id, changes.credential)
            return replace(changed, sealed_credential=sealed, credential_kind=changes.credential.kind)
        if changes.credential is UNCHANGED and changed.endpoint_url == server.endpoint_url:
            return changed
        return replace(changed, sealed_credential=None, credential_kind=None)

    def _check_bot(self, user_id: UserId, bot_id: BotId) -> None:
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")

    def _owned(self, user_id: UserId, server_id: ToolServerId) -> ToolServer:
        server = self.servers.get(user_id, server_id)
        if server is None:
            raise _unknown_server()
        return server


def bounded(discovery: Discovery) -> Discovery:
    """At most as many tools as we keep of one server, and a note where that is fewer than it lists."""
    if len(discovery.tools) <= MAX_TOOLS_PER_SERVER:
        return discovery
    note = f"The server lists {len(discovery.tools)} tools; those after the first {MAX_TOOLS_PER_SERVER} were left out."
    return replace(discovery, tools=discovery.tools[:MAX_TOOLS_PER_SERVER], notes=(*discovery.notes, note))


def _changed(server: ToolServer, changes: ServerChanges) -> ToolServer:
    given = {
        name: value
        for name in (
            "name",
            "endpoint_url",
            "description",
            "is_active",
            "timeout_seconds",
            "retry_attempts",
            "protocol",
            "policies",
        )
        if (value := getattr(changes, name)) is not None
    }
    return replace(server, **given)


def _idle_policies(server: ToolServer, tools: Sequence[Tool]) -> tuple[str, ...]:
    """A policy for a tool that is not there is most likely misspelt."""
    listed = {tool.definition.name for tool in tools}
    return tuple(
        f"The policy for {name!r} has no effect: the server lists no such tool."
        for name in sorted(set(server.policies) - listed - {"*"})
    )


def _unknown_server() -> NotFound:
    return NotFound("There is no such tool server.", code="server_not_found", field="server_id")
