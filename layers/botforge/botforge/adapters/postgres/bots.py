"""The table ``bots``."""

from typing import LiteralString

from psycopg.rows import class_row

from botforge.adapters.postgres import cursors
from botforge.adapters.postgres.database import Database
from botforge.domain.bot import Bot, Namespace
from botforge.domain.ids import BotId, UserId
from botforge.domain.page import Page

_COLUMNS: LiteralString = """
id, user_id, name, description, is_active, max_chunks, similarity_threshold, created_at, updated_at
"""


class PostgresBots:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, bot: Bot) -> Bot:
        statement: LiteralString = f"""
            insert into bots (id, user_id, name, description, is_active, max_chunks, similarity_threshold)
            values (%(id)s, %(user)s, %(name)s, %(description)s, %(active)s, %(chunks)s, %(threshold)s)
            returning {_COLUMNS}
        """
        with (
            self._database.transaction(bot.user_id) as connection,
            connection.cursor(row_factory=class_row(Bot)) as rows,
        ):
            created = rows.execute(statement, _parameters(bot)).fetchone()
        assert created is not None, "insert … returning gives a row or raises"  # noqa: S101
        return created

    def get(self, user_id: UserId, bot_id: BotId) -> Bot | None:
        statement: LiteralString = f"""
            select {_COLUMNS} from bots where id = %(id)s and user_id = %(user)s and deleted_at is null
        """
        rows = self._database.fetch(user_id, statement, {"id": bot_id, "user": user_id}, class_row(Bot))
        return rows[0] if rows else None

    def list(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Bot]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {_COLUMNS} from bots
            where user_id = %(user)s and deleted_at is null
                and (%(after)s::timestamptz is null or (created_at, id) < (%(after)s, %(after_id)s))
            order by created_at desc, id desc limit %(limit)s
        """
        parameters = {
            "user": user_id,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, class_row(Bot))
        return cursors.page(rows, limit, lambda bot: cursors.Position(bot.created_at, bot.id))

    def update(self, bot: Bot) -> Bot | None:
        statement: LiteralString = f"""
            update bots set name = %(name)s, description = %(description)s, is_active = %(active)s,
                max_chunks = %(chunks)s, similarity_threshold = %(threshold)s, updated_at = now()
            where id = %(id)s and user_id = %(user)s and deleted_at is null
            returning {_COLUMNS}
        """
        with (
            self._database.transaction(bot.user_id) as connection,
            connection.cursor(row_factory=class_row(Bot)) as rows,
        ):
            return rows.execute(statement, _parameters(bot)).fetchone()

    def delete(self, user_id: UserId, bot_id: BotId) -> bool:
        statement: LiteralString = """
            update bots set deleted_at = now(), is_active = false, updated_at = now()
            where id = %(id)s and user_id = %(user)s and deleted_at is null
        """
        with self._database.transaction(user_id) as connection:
            return connection.execute(statement, {"id": bot_id, "user": user_id}).rowcount == 1

    def namespaces(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Namespace]:
        bots = self.list(user_id, limit=limit, cursor=cursor)
        statement: LiteralString = """
            select b.id as bot_id, b.name as bot_name,
                count(d.id) filter (where d.active_generation is not null)::int as documents,
                coalesce(sum(d.chunk_count), 0)::int as chunks
            from unnest(%(bots)s::uuid[]) with ordinality as wanted (id, position)
                join bots b on b.id = wanted.id
                left join documents d on d.bot_id = b.id
            group by b.id, b.name, wanted.position order by wanted.position
        """
        parameters = {"bots": [bot.id for bot in bots.items]}
        rows = self._database.fetch(user_id, statement, parameters, class_row(Namespace))
        return Page(rows, bots.next_cursor)


def _parameters(bot: Bot) -> dict[str, object]:
    return {
        "id": bot.id,
        "user": bot.user_id,
        "name": bot.name,
        "description": bot.description,
        "active": bot.is_active,
        "chunks": bot.max_chunks,
        "threshold": bot.similarity_threshold,
    }
