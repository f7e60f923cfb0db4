"""The table ``documents``: which generation of which object is visible, and who may change that."""

from typing import Any, LiteralString
from uuid import uuid4

from psycopg.rows import dict_row, kwargs_row

from botforge.adapters.postgres import cursors
from botforge.adapters.postgres.database import Connection, Database
from botforge.domain.document import Document, DocumentStatus, ObjectInfo
from botforge.domain.errors import NotFound
from botforge.domain.ids import BotId, DocumentId, ObjectKey, UserId
from botforge.domain.page import Page
from botforge.domain.reasons import Reason
from botforge.domain.work import Claim

_COLUMNS: LiteralString = """
id, user_id, bot_id, path, content_type, size, status, reason, detail, active_generation, chunk_count,
truncated_chunks, created_at, updated_at, indexed_at
"""

# Sequencers compare after padding the shorter with zeros: domain.document.is_newer, in SQL.
_IS_STALE: LiteralString = """
coalesce(
    rpad(lower(%(sequencer)s), greatest(length(%(sequencer)s), length(d.sequencer)), '0') collate "C"
    < rpad(lower(d.sequencer), greatest(length(%(sequencer)s), length(d.sequencer)), '0') collate "C",
    false)
"""


class PostgresDocuments:
    def __init__(self, database: Database) -> None:
        self._database = database

    def announce(self, key: ObjectKey, *, content_type: str, size: int) -> Document:
        statement: LiteralString = f"""
            insert into documents as d (id, user_id, bot_id, path, content_type, size, status)
            values (%(id)s, %(user)s, %(bot)s, %(path)s, %(type)s, %(size)s, 'pending')
            on conflict (bot_id, path) do update set
                status = case when d.status in ('processing', 'indexed') then d.status else 'pending' end,
                reason = null, detail = null, updated_at = now(),
                created_at = case when d.status = 'deleted' then now() else d.created_at end
            returning {_COLUMNS}
        """
        parameters = {
            "id": uuid4(),
            "user": key.user_id,
            "bot": key.bot_id,
            "path": key.path,
            "type": content_type,
            "size": size,
        }
        with self._database.transaction(key.user_id) as connection:
            return _one(connection, statement, parameters)

    def get(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> Document | None:
        statement: LiteralString = f"""
            select {_COLUMNS} from documents
            where id = %(id)s and bot_id = %(bot)s and user_id = %(user)s and status <> 'deleted'
        """
        parameters = {"id": document_id, "bot": bot_id, "user": user_id}
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_document))
        return rows[0] if rows else None

    def list(
        self, user_id: UserId, bot_id: BotId, *, status: DocumentStatus | None, limit: int, cursor: str | None
    ) -> Page[Document]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {_COLUMNS} from documents
            where bot_id = %(bot)s and user_id = %(user)s and status <> 'deleted'
                and (%(status)s::text is null or status = %(status)s)
                and (%(after)s::timestamptz is null or (created_at, id) < (%(after)s, %(after_id)s))
            order by created_at desc, id desc limit %(limit)s
        """
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "status": status,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_document))
        return cursors.page(rows, limit, lambda document: cursors.Position(document.created_at, document.id))

    def forget(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> Document | None:
        # A further generation supersedes whoever is working on the document now.
        statement: LiteralString = f"""
            update documents set status = 'deleted', reason = null, detail = null, active_generation = null,
                etag = null, last_generation = last_generation + 1, chunk_count = 0, truncated_chunks = 0,
                updated_at = now()
            where id = %(id)s and bot_id = %(bot)s and user_id = %(user)s and status <> 'deleted'
            returning {_COLUMNS}
        """
        parameters = {"id": document_id, "bot": bot_id, "user": user_id}
        with (
            self._database.transaction(user_id) as connection,
            connection.cursor(row_factory=kwargs_row(_document)) as rows,
        ):
            document = rows.execute(statement, parameters).fetchone()
            if document:
                connection.execute("delete from chunks where document_id = %s", (document_id,))
        return document

    def claim(self, key: ObjectKey, *, sequencer: str | None, correlation_id: str | None) -> Claim | None:
        statement: LiteralString = f"""
            insert into documents as d (id, user_id, bot_id, path, content_type, size, status, sequencer,
                                        correlation_id, last_generation, claimed_at)
            select %(id)s, b.user_id, b.id, %(path)s, '', 0, 'processing', %(sequencer)s, %(correlation)s, 1, now()
            from bots b where b.id = %(bot)s and b.user_id = %(user)s and b.deleted_at is null
            on conflict (bot_id, path) do update set
                status = 'processing', reason = null, detail = null, last_generation = d.last_generation + 1,
                sequencer = coalesce(excluded.sequencer, d.sequencer),
                correlation_id = excluded.correlation_id, claimed_at = now(), updated_at = now()
            where not {_IS_STALE}
            returning d.id as document_id, d.last_generation as generation, d.etag as active_etag, d.active_generation
        """
        parameters: dict[str, object] = {
            "id": uuid4(),
            "user": key.user_id,
            "bot": key.bot_id,
            "path": key.path,
            "sequencer": sequencer,
            "correlation": correlation_id,
        }
        known: LiteralString = """
            select 1 from bots where id = %(bot)s and user_id = %(user)s and deleted_at is null
        """
        with self._database.transaction(key.user_id) as connection, connection.cursor(row_factory=dict_row) as rows:
            claimed = rows.execute(statement, parameters).fetchone()
            if claimed is not None:
                return Claim(key=key, **claimed)
            if rows.execute(known, parameters).fetchone() is None:
                raise NotFound("No such bot belongs to this user.", code="unknown_bot")
        return None

    def activate(self, claim: Claim, info: ObjectInfo, *, chunks: int, truncated: int, title: str | None) -> bool:
        statement: LiteralString = """
            update documents set status = 'indexed', active_generation = %(generation)s, chunk_count = %(chunks)s,
                truncated_chunks = %(truncated)s, title = %(title)s, content_type = %(type)s, size = %(size)s,
                etag = %(etag)s, version_id = %(version)s, reason = null, detail = null, claimed_at = null,
                indexed_at = now(), updated_at = now()
            where id = %(id)s and last_generation = %(generation)s
        """
        parameters = {
            **_held(claim),
            "chunks": chunks,
            "truncated": truncated,
            "title": title,
            "type": info.content_type,
            "size": info.size,
            "etag": info.etag,
            "version": info.version_id,
        }
        others: LiteralString = "delete from chunks where document_id = %(id)s and generation <> %(generation)s"
        return self._while_held(claim, statement, parameters, others)

    def unchanged(self, claim: Claim) -> bool:
        statement: LiteralString = """
            update documents set status = 'indexed', claimed_at = null, updated_at = now()
            where id = %(id)s and last_generation = %(generation)s and active_generation is not null
        """
        return self._while_held(claim, statement, _held(claim), None)

    def reject(
        self, claim: Claim, info: ObjectInfo | None, status: DocumentStatus, reason: Reason, detail: str
    ) -> bool:
        statement: LiteralString = """
            update documents set status = %(status)s, reason = %(reason)s, detail = %(detail)s,
                content_type = coalesce(%(type)s, content_type), size = coalesce(%(size)s, size),
                active_generation = null, etag = null, chunk_count = 0, truncated_chunks = 0, claimed_at = null,
                updated_at = now()
            where id = %(id)s and last_generation = %(generation)s
        """
        parameters = {
            **_held(claim),
            "status": status,
            "reason": reason,
            "detail": detail,
            "type": info and info.content_type,
            "size": info and info.size,
        }
        return self._while_held(claim, statement, parameters, _ALL_CHUNKS)

    def remove(self, claim: Claim) -> bool:
        statement: LiteralString = """
            update documents set status = 'deleted', reason = null, detail = null, active_generation = null,
                etag = null, chunk_count = 0, truncated_chunks = 0, claimed_at = null, updated_at = now()
            where id = %(id)s and last_generation = %(generation)s
        """
        return self._while_held(claim, statement, _held(claim), _ALL_CHUNKS)

    def release(self, claim: Claim, detail: str) -> None:
        statement: LiteralString = """
            update documents set status = 'pending', detail = %(detail)s, claimed_at = null, updated_at = now()
            where id = %(id)s and last_generation = %(generation)s
        """
        self._while_held(claim, statement, {**_held(claim), "detail": detail}, None)

    def _while_held(
        self, claim: Claim, statement: LiteralString, parameters: dict[str, object], then: LiteralString | None
    ) -> bool:
        """Run an update that counts only for the newest claim, and what follows from it in the same transaction."""
        with self._database.transaction(claim.key.user_id) as connection:
            held = connection.execute(statement, parameters).rowcount == 1
            if held and then is not None:
                connection.execute(then, parameters)
        return held


_ALL_CHUNKS: LiteralString = "delete from chunks where document_id = %(id)s"


def _held(claim: Claim) -> dict[str, object]:
    return {"id": claim.document_id, "generation": claim.generation}


def _one(connection: Connection, statement: LiteralString, parameters: dict[str, Any]) -> Document:
    with connection.cursor(row_factory=kwargs_row(_document)) as rows:
        document = rows.execute(statement, parameters).fetchone()
    assert document is not None, "insert … returning gives a row or raises"  # noqa: S101
    return document


def _document(*, status: str, reason: str | None, **columns: Any) -> Document:  # noqa: ANN401 - a row's columns
    return Document(status=DocumentStatus(status), reason=Reason(reason) if reason else None, **columns)
