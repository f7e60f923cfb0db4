"""The tables ``conversations`` and ``messages``."""

from collections.abc import Sequence
from typing import Any, LiteralString

from psycopg.rows import class_row, kwargs_row

from botforge.adapters.postgres.cursors import Position, decode, page
from botforge.adapters.postgres.database import Database
from botforge.domain.conversation import Conversation, ConversationMessage, Entry, Role
from botforge.domain.errors import Conflict
from botforge.domain.ids import BotId, ConversationId, UserId
from botforge.domain.page import Page

_COLUMNS: LiteralString = "id, user_id, bot_id, client_id, created_at, updated_at"


class PostgresConversations:
    def __init__(self, database: Database) -> None:
        self._database = database

    def recent(
        self, user_id: UserId, bot_id: BotId, conversation_id: ConversationId, *, limit: int
    ) -> Sequence[ConversationMessage]:
        statement: LiteralString = """
            select m.number, m.role, m.text, m.created_at
            from messages m join conversations c on c.user_id = m.user_id and c.id = m.conversation_id
            where m.user_id = %(user)s and m.conversation_id = %(conversation)s and c.bot_id = %(bot)s
            order by m.number desc limit %(limit)s
        """
        parameters = {"user": user_id, "bot": bot_id, "conversation": conversation_id, "limit": limit}
        return self._database.fetch(user_id, statement, parameters, kwargs_row(_message))[::-1]

    def append(self, entry: Entry) -> None:
        begin: LiteralString = """
            insert into conversations (user_id, id, bot_id, client_id)
            values (%(user)s, %(conversation)s, %(bot)s, %(client)s)
            on conflict (user_id, id) do update set updated_at = now() where conversations.bot_id = excluded.bot_id
            returning id
        """
        # The conversation's row is locked by now, so no other turn takes the same numbers.
        add: LiteralString = """
            insert into messages (user_id, conversation_id, number, role, text)
            select %(user)s, %(conversation)s, said.number + (
                select coalesce(max(number) + 1, 0) from messages
                where user_id = %(user)s and conversation_id = %(conversation)s), said.role, said.text
            from (values (0, 'user', %(question)s::text), (1, 'assistant', %(answer)s)) as said (number, role, text)
        """
        parameters = {
            "user": entry.user_id,
            "bot": entry.bot_id,
            "conversation": entry.conversation_id,
            "client": entry.client_id,
            "question": entry.turn.question,
            "answer": entry.turn.answer,
        }
        with self._database.transaction(entry.user_id) as connection:
            if connection.execute(begin, parameters).fetchone() is None:
                raise Conflict(
                    "This conversation is with another bot.",
                    code="conversation_of_another_bot",
                    field="conversation_id",
                    next_step="Use a new conversation_id for each bot.",
                )
            connection.execute(add, parameters)

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[Conversation]:
        statement: LiteralString = f"""
            select {_COLUMNS} from conversations
            where bot_id = %(bot)s and user_id = %(user)s
                and (%(after)s::timestamptz is null or (created_at, id) < (%(after)s, %(id)s::uuid))
            order by created_at desc, id desc limit %(limit)s
        """
        after = decode(cursor)
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "after": after.created_at if after else None,
            "id": after.id if after else None,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, class_row(Conversation))
        return page(rows, limit, lambda conversation: Position(conversation.created_at, conversation.id))

    def get(self, user_id: UserId, conversation_id: ConversationId) -> Conversation | None:
        statement: LiteralString = f"select {_COLUMNS} from conversations where user_id = %(user)s and id = %(id)s"
        parameters = {"user": user_id, "id": conversation_id}
        return next(iter(self._database.fetch(user_id, statement, parameters, class_row(Conversation))), None)

    def messages(
        self, user_id: UserId, conversation_id: ConversationId, *, after: int, limit: int
    ) -> Sequence[ConversationMessage]:
        statement: LiteralString = """
            select number, role, text, created_at from messages
            where user_id = %(user)s and conversation_id = %(id)s and number > %(after)s
            order by number limit %(limit)s
        """
        parameters = {"user": user_id, "id": conversation_id, "after": after, "limit": limit}
        return self._database.fetch(user_id, statement, parameters, kwargs_row(_message))

    def delete(self, user_id: UserId, conversation_id: ConversationId) -> bool:
        statement: LiteralString = "delete from conversations where user_id = %(user)s and id = %(id)s"
        with self._database.transaction(user_id) as connection:
            return connection.execute(statement, {"user": user_id, "id": conversation_id}).rowcount == 1


def _message(*, role: str, **columns: Any) -> ConversationMessage:  # noqa: ANN401 - a row's columns
    return ConversationMessage(role=Role(role), **columns)
