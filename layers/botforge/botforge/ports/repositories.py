"""Postgres as the services see it: one Protocol a table, every method scoped to a tenant.

Every method raises DatabaseUnavailable when the database does not answer. A method that is given a ``user_id`` sees
that tenant's rows only; a foreign id is as unknown as one that does not exist.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from botforge.domain.bot import Bot, Namespace
from botforge.domain.chunk import Candidate, Chunk, Hit
from botforge.domain.conversation import Conversation, ConversationMessage, Entry
from botforge.domain.document import Document, DocumentStatus, ObjectInfo
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import (
    BotId,
    ChunkRef,
    ConversationId,
    DocumentId,
    ExecutionId,
    ObjectKey,
    ToolId,
    ToolServerId,
    UserId,
)
from botforge.domain.page import Page
from botforge.domain.query import QueryRecord, QueryStatistics
from botforge.domain.reasons import Reason
from botforge.domain.tool import Dialect, ServerHealth, ServerStatus, ServerTool, Tool, ToolServer
from botforge.domain.work import Claim, PurgeableBot
from botforge.ports.embedding import Vector


class Bots(Protocol):
    def create(self, bot: Bot) -> Bot: ...

    def get(self, user_id: UserId, bot_id: BotId) -> Bot | None: ...

    def list(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Bot]: ...

    def update(self, bot: Bot) -> Bot | None:
        """Save every field that an owner may change; None if the bot is unknown."""
        ...

    def delete(self, user_id: UserId, bot_id: BotId) -> bool:
        """Make the bot and all it holds invisible at once; the monitor purges it later. False if unknown."""
        ...

    def namespaces(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Namespace]: ...


class Documents(Protocol):
    def announce(self, key: ObjectKey, *, content_type: str, size: int) -> Document:
        """Note an upload before its event arrives: ``pending``, unless the document is already there.

        A document that is indexed stays so, and keeps answering, until the new content has been read.
        """
        ...

    def get(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> Document | None: ...

    def list(
        self, user_id: UserId, bot_id: BotId, *, status: DocumentStatus | None, limit: int, cursor: str | None
    ) -> Page[Document]: ...

    def forget(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> Document | None:
        """Take the document's text out of every later answer, at once: its row becomes a tombstone."""
        ...

    def claim(self, key: ObjectKey, *, sequencer: str | None, correlation_id: str | None) -> Claim | None:
        """Begin a new generation for the object, superseding any other worker's claim on it.

        Creates the row if this is the first that is heard of it. None if the event is stale: a later one has been
        handled. Raises NotFound when no such bot belongs to the user.
        """
        ...

    def activate(self, claim: Claim, info: ObjectInfo, *, chunks: int, truncated: int, title: str | None) -> bool:
        """Flip to the claim's generation and drop all others' text, in one transaction.

        False, and nothing changed, if the claim was superseded.
        """
        ...

    def unchanged(self, claim: Claim) -> bool:
        """Give the claim back: the active generation already holds this content. False if superseded."""
        ...

    def reject(
        self, claim: Claim, info: ObjectInfo | None, status: DocumentStatus, reason: Reason, detail: str
    ) -> bool:
        """End the claim with a reason. What was indexed before is gone too: the bucket no longer holds it."""
        ...

    def remove(self, claim: Claim) -> bool:
        """The bucket holds nothing under this key: text away, row to tombstone. False if superseded."""
        ...

    def release(self, claim: Claim, detail: str) -> None:
        """Give a claim back after a passing fault; the event will be delivered again."""
        ...


class Chunks(Protocol):
    def write(self, claim: Claim, chunks: Sequence[Chunk]) -> None:
        """Store a generation's text, not yet visible. Writing it again replaces it."""
        ...

    def search(
        self,
        user_id: UserId,
        bot_id: BotId,
        text: str,
        hits: Sequence[Hit],
        *,
        vector: Vector | None,
        lexical_limit: int,
        limit: int,
        document_ids: Collection[DocumentId] = (),
    ) -> list[Candidate]:
        """Lexical search, joined with dense ``hits``: every candidate is a chunk of an active generation.

        Any text is a valid query; ``vector`` is its embedding, without which the candidates' sentences are not
        compared. The ``limit`` best by ``fusion.SHORTLIST_WEIGHT`` come, in no particular order.
        """
        ...

    def write_sentences(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, list[Vector]]]) -> None:
        """Store the vectors of chunks' sentences (``Chunk.sentences``); those of a chunk go when it goes, and none are
        stored if a chunk has gone already."""
        ...

    def discard(self, claim: Claim) -> None:
        """Drop what a superseded claim has written."""
        ...

    def read(
        self, user_id: UserId, document_id: DocumentId, generation: int, *, after: int, limit: int
    ) -> Sequence[Chunk]:
        """A generation's chunks with an ordinal above ``after``, in order."""
        ...

    def active(self, user_id: UserId, bot_id: BotId) -> Iterator[tuple[ChunkRef, Chunk]]:
        """Every chunk that answers may quote, for rebuilding an index; read page by page."""
        ...


class CallableTools(Protocol):
    """What a message may be answered with: tool and server are active, and the server's circuit is not open."""

    def nearest(
        self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int
    ) -> Sequence[tuple[ServerTool, float]]:
        """The callable tools nearest to ``vector``, best first, with their cosine similarity.

        Callable: tool and server active, circuit not open. At most ``limit``; one round trip.
        """
        ...

    def nearest_to_any(
        self, user_id: UserId, bot_id: BotId, vectors: Sequence[Vector], *, limit: int
    ) -> Sequence[tuple[ServerTool, Sequence[float]]]:
        """For each vector the ``limit`` callable tools nearest to it, each tool once, with its cosine to every vector.

        In no particular order; one round trip.
        """
        ...

    def callable_count(self, user_id: UserId, bot_id: BotId) -> int: ...

    def withheld(self, user_id: UserId, bot_id: BotId) -> Sequence[str]:
        """Names of active servers whose circuit is open: answers say that their tools were not at hand."""
        ...


class ToolServers(CallableTools, Protocol):
    """``mcp_servers`` and ``mcp_tools``. Vectors of tools are ``tool_vectors``' (services/tool_embedding.py)."""

    def create(self, server: ToolServer, tools: Sequence[Tool], vectors: Sequence[Vector]) -> None:
        """The server and its tools, in one transaction. Raises Conflict when the bot has a server of that name, or as
        many as it may have; NotFound when no such bot belongs to the user."""
        ...

    def get(self, user_id: UserId, server_id: ToolServerId) -> ToolServer | None: ...

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[ToolServer]: ...

    def update(self, server: ToolServer, tools: Sequence[Tool] = ()) -> ToolServer | None:
        """Save what an owner may change, the dialect, the sealed credential, the health where its check is newer than
        the one that is stored, and ``tools`` (without vectors), in one transaction.

        None if unknown. Raises Conflict when another server of the bot has that name, or when the server was changed
        since it was read (``updated_at``).
        """
        ...

    def delete(self, user_id: UserId, server_id: ToolServerId) -> bool:
        """The server and its tools are gone; its executions stay. False if unknown."""
        ...

    def tools(self, user_id: UserId, *, bot_id: BotId | None, limit: int, cursor: str | None) -> Page[ServerTool]:
        """Of one bot, or of all of the user's bots."""
        ...

    def tool(self, user_id: UserId, tool_id: ToolId) -> ServerTool | None: ...

    def tools_of(self, user_id: UserId, server_id: ToolServerId) -> Sequence[Tool]: ...

    def save_tools(
        self, user_id: UserId, server_id: ToolServerId, tools: Sequence[Tool], vectors: Mapping[ToolId, Vector]
    ) -> None:
        """Insert or replace the server's tools by id; ``vectors`` of those whose accepted definition is new."""
        ...


class ServerChecks(Protocol):
    """What the monitor may do with tool servers across tenants."""

    def claim_due(self, *, limit: int, not_since: timedelta) -> Sequence[ToolServer]:
        """Active servers that nobody has claimed for ``not_since``, claimed for the caller: two monitors that overlap
        never get the same one. Oldest check first."""
        ...

    def save_check(
        self, server: ToolServer, health: ServerHealth, changed: Sequence[Tool], dialect: Dialect | None
    ) -> None:
        """``changed``: tools to insert or replace (without vectors: those come when the owner accepts)."""
        ...

    def tools_of(self, server: ToolServer) -> Sequence[Tool]: ...

    def health(self) -> Mapping[ServerStatus, int]:
        """How many active servers are in which state, over all tenants."""
        ...


class Executions(Protocol):
    def start(self, execution: Execution) -> None:
        """Commit the row before the request leaves. Raises DatabaseUnavailable, and NotFound when the server is no
        longer registered: then nothing may be sent."""
        ...

    def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
        """End a row that is ``started``. False if it was ended before (by the monitor), and nothing changed."""
        ...

    def list(
        self,
        user_id: UserId,
        bot_id: BotId,
        *,
        status: ExecutionStatus | None,
        tool_name: str | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Execution]: ...


class Queries(Protocol):
    def record(self, record: QueryRecord) -> None: ...

    def statistics(self, user_id: UserId, bot_id: BotId, *, since: datetime, until: datetime) -> QueryStatistics: ...


class Conversations(Protocol):
    """``conversations`` and ``messages``. An id is chosen by the client, and means something to its owner only."""

    def recent(
        self, user_id: UserId, bot_id: BotId, conversation_id: ConversationId, *, limit: int
    ) -> Sequence[ConversationMessage]:
        """The latest messages with this bot, oldest of them first; none of a conversation that is unknown."""
        ...

    def append(self, entry: Entry) -> None:
        """Add a question and its answer; the first begins the conversation.

        Raises Conflict for an id that the user has given a conversation with another bot.
        """
        ...

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[Conversation]: ...

    def get(self, user_id: UserId, conversation_id: ConversationId) -> Conversation | None: ...

    def messages(
        self, user_id: UserId, conversation_id: ConversationId, *, after: int, limit: int
    ) -> Sequence[ConversationMessage]:
        """Those with a number above ``after``, in order."""
        ...

    def delete(self, user_id: UserId, conversation_id: ConversationId) -> bool:
        """The conversation and all that was said in it. False if unknown."""
        ...


class Maintenance(Protocol):
    """What the monitor may do across tenants."""

    def expire_claims(self, *, older_than: timedelta) -> int:
        """``processing`` documents whose worker never came back become ``failed`` (worker_lost)."""
        ...

    def expire_uploads(self, *, older_than: timedelta) -> int:
        """``pending`` documents that nobody uploaded become ``failed`` (upload_expired)."""
        ...

    def expire_executions(self, *, older_than: timedelta) -> int:
        """``started`` executions whose worker never came back become ``unknown`` (worker_lost)."""
        ...

    def expire_conversations(self, *, older_than: timedelta) -> int:
        """Delete conversations in which nothing was said for that long."""
        ...

    def deleted_bots(self, *, limit: int) -> Sequence[PurgeableBot]: ...

    def bots(self) -> Sequence[tuple[UserId, BotId]]:
        """Every bot that is not deleted, with its owner."""
        ...

    def purge_bot(self, user_id: UserId, bot_id: BotId) -> None:
        """Drop the bot's rows for good. Its objects and vectors must be gone before."""
        ...

    def refresh_statistics(self) -> int:
        """Renew what lexical search knows of common terms; returns how many there are."""
        ...


class Health(Protocol):
    def ping(self) -> None:
        """Raise DatabaseUnavailable unless the database answers and its schema is the one we expect."""
        ...

    def tool_servers(self) -> Mapping[ServerStatus, int]:
        """How many active tool servers are in which state, over all tenants."""
        ...
