"""What the monitor does across tenants, as the worker role."""

from collections.abc import Sequence
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import class_row, tuple_row

from botforge.adapters.postgres.database import Database
from botforge.domain.ids import BotId, UserId
from botforge.domain.reasons import Reason
from botforge.domain.work import PurgeableBot

# A lexeme in more than this share of all chunks is too common to be searched for in a large namespace.
_COMMON_FREQUENCY = 0.005


class PostgresMaintenance:
    def __init__(self, database: Database) -> None:
        self._database = database

    def expire_claims(self, *, older_than: timedelta) -> int:
        # The bucket's content was never read, so nothing older may go on answering for it.
        statement: LiteralString = """
            with lost as (
                update documents set status = 'failed', reason = %(reason)s,
                    detail = 'The worker that read this document never came back. Upload it again to retry.',
                    last_generation = last_generation + 1, active_generation = null, etag = null, chunk_count = 0,
                    truncated_chunks = 0, claimed_at = null, updated_at = now()
                where status = 'processing' and claimed_at < now() - %(age)s
                returning id
            ), texts as (
                delete from chunks using lost where document_id = lost.id
            )
            select count(*) from lost
        """
        return self._count(statement, {"reason": Reason.WORKER_LOST, "age": older_than})

    def expire_uploads(self, *, older_than: timedelta) -> int:
        statement: LiteralString = """
            with expired as (
                update documents set status = 'failed', reason = %(reason)s,
                    detail = 'The upload was announced and never arrived.', updated_at = now()
                where status = 'pending' and last_generation = 0 and created_at < now() - %(age)s
                returning id
            )
            select count(*) from expired
        """
        return self._count(statement, {"reason": Reason.UPLOAD_EXPIRED, "age": older_than})

    def expire_executions(self, *, older_than: timedelta) -> int:
        statement: LiteralString = """
            with lost as (
                update mcp_executions set status = 'unknown', error_code = 'worker_lost',
                    error_message = 'The worker that made this call never came back: it may have been carried out.'
                where status = 'started' and "timestamp" < now() - %(age)s
                returning id
            )
            select count(*) from lost
        """
        return self._count(statement, {"age": older_than})

    def expire_conversations(self, *, older_than: timedelta) -> int:
        statement: LiteralString = """
            with expired as (delete from conversations where updated_at < now() - %(age)s returning id)
            select count(*) from expired
        """
        return self._count(statement, {"age": older_than})

    def deleted_bots(self, *, limit: int) -> Sequence[PurgeableBot]:
        statement: LiteralString = """
            select user_id, id as bot_id from bots where deleted_at is not null order by deleted_at limit %(limit)s
        """
        return self._database.fetch(None, statement, {"limit": limit}, class_row(PurgeableBot))

    def bots(self) -> Sequence[tuple[UserId, BotId]]:
        statement: LiteralString = "select user_id, id from bots where deleted_at is null order by id"
        return self._database.fetch(None, statement, {}, tuple_row)

    def purge_bot(self, user_id: UserId, bot_id: BotId) -> None:
        owned: LiteralString = "select 1 from bots where id = %s and user_id = %s and deleted_at is not null for update"
        with self._database.transaction(None) as connection:
            if connection.execute(owned, (bot_id, user_id)).fetchone() is None:
                return
            connection.execute("delete from routing_examples where bot_id = %s", (bot_id,))
            connection.execute("delete from mcp_executions where bot_id = %s", (bot_id,))
            connection.execute("delete from mcp_tools where bot_id = %s", (bot_id,))
            connection.execute("delete from mcp_servers where bot_id = %s", (bot_id,))
            connection.execute("delete from queries where bot_id = %s", (bot_id,))
            connection.execute("delete from conversations where bot_id = %s", (bot_id,))
            connection.execute("delete from chunks where bot_id = %s", (bot_id,))
            connection.execute("delete from documents where bot_id = %s", (bot_id,))
            connection.execute("delete from bots where id = %s", (bot_id,))

    def refresh_statistics(self) -> int:
        return self._count("select refresh_common_lexemes(%(share)s)", {"share": _COMMON_FREQUENCY})

    def _count(self, statement: LiteralString, parameters: dict[str, object]) -> int:
        with self._database.transaction(None) as connection:
            row = connection.execute(statement, parameters).fetchone()
        return int(row[0]) if row else 0
