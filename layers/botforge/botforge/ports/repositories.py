"""Postgres as the services see it: one Protocol a table, every method scoped to a tenant.

Every method raises DatabaseUnavailable when the database does not answer. A method that is given a ``user_id`` sees
that tenant's rows only; a foreign id is as unknown as one that does not exist.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from botforge.domain.bot import Bot, Namespace
from botforge.domain.chunk import Candidate, Chunk, Hit
from botforge.domain.document import Document, DocumentStatus, ObjectInfo
from botforge.domain.ids import BotId, ChunkRef, DocumentId, ObjectKey, UserId
from botforge.domain.page import Page
from botforge.domain.query import QueryRecord, QueryStatistics
from botforge.domain.reasons import Reason
from botforge.domain.work import Claim, PurgeableBot


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
        lexical_limit: int,
        document_ids: Collection[DocumentId] = (),
    ) -> list[Candidate]:
        """Lexical search, joined with dense ``hits``: every candidate is a chunk of an active generation.

        Any text is a valid query. Candidates come in no particular order.
        """
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


class Queries(Protocol):
    def record(self, record: QueryRecord) -> None: ...

    def statistics(self, user_id: UserId, bot_id: BotId, *, since: datetime, until: datetime) -> QueryStatistics: ...


class Maintenance(Protocol):
    """What the monitor may do across tenants."""

    def expire_claims(self, *, older_than: timedelta) -> int:
        """``processing`` documents whose worker never came back become ``failed`` (worker_lost)."""
        ...

    def expire_uploads(self, *, older_than: timedelta) -> int:
        """``pending`` documents that nobody uploaded become ``failed`` (upload_expired)."""
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
