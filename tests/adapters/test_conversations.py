"""Conversations on a real PostgreSQL, as the runtime roles."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import tuple_row
from tests.conftest import TestDatabase

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.conversations import PostgresConversations
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.domain.bot import Bot
from botforge.domain.conversation import Entry, Role, Turn
from botforge.domain.errors import Conflict
from botforge.domain.ids import BotId, ConversationId, UserId

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_bot(database: Database, user: UserId | None = None) -> Bot:
    bot = Bot(BotId(uuid4()), user or UserId(uuid4()), "Bot", "", True, 5, 0.5, NOW, NOW)
    return PostgresBots(database).create(bot)


def entry(bot: Bot, conversation: ConversationId, question: str = "Why?", answer: str = "Because.") -> Entry:
    return Entry(bot.user_id, bot.id, conversation, "client", uuid4(), Turn(question, answer))


def texts(conversations: PostgresConversations, bot: Bot, conversation: ConversationId, limit: int = 10) -> list[str]:
    return [one.text for one in conversations.recent(bot.user_id, bot.id, conversation, limit=limit)]


def test_turns_are_kept_in_order_and_the_latest_of_them_read(tenant: Database) -> None:
    conversations, bot, conversation = PostgresConversations(tenant), a_bot(tenant), ConversationId(uuid4())
    for number in range(3):
        conversations.append(entry(bot, conversation, f"q{number}", f"a{number}"))
    assert texts(conversations, bot, conversation) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert texts(conversations, bot, conversation, limit=2) == ["q2", "a2"]
    after = conversations.messages(bot.user_id, conversation, after=2, limit=2)
    assert [(one.number, one.role, one.text) for one in after] == [(3, Role.ASSISTANT, "a1"), (4, Role.USER, "q2")]


def test_one_id_used_by_two_tenants_is_two_conversations(tenant: Database) -> None:
    conversations, conversation = PostgresConversations(tenant), ConversationId(uuid4())
    mine, theirs = a_bot(tenant), a_bot(tenant)
    conversations.append(entry(mine, conversation, "mine"))
    assert conversations.get(theirs.user_id, conversation) is None
    assert texts(conversations, theirs, conversation) == []
    assert conversations.messages(theirs.user_id, conversation, after=-1, limit=9) == []
    assert not conversations.delete(theirs.user_id, conversation)
    conversations.append(entry(theirs, conversation, "theirs"))
    assert texts(conversations, mine, conversation) == ["mine", "Because."]
    assert texts(conversations, theirs, conversation) == ["theirs", "Because."]


def test_row_level_security_hides_other_tenants_messages_even_from_a_query_without_a_condition(
    tenant: Database,
) -> None:
    conversations, bot = PostgresConversations(tenant), a_bot(tenant)
    conversations.append(entry(bot, ConversationId(uuid4())))
    for table in ("conversations", "messages"):
        statement = (
            "select count(*) from conversations" if table == "conversations" else "select count(*) from messages"
        )
        assert tenant.fetch(UserId(uuid4()), statement, {}, tuple_row) == [(0,)]
        assert tenant.fetch(bot.user_id, statement, {}, tuple_row) != [(0,)]


def test_a_conversation_belongs_to_one_bot(tenant: Database) -> None:
    conversations, bot, conversation = PostgresConversations(tenant), a_bot(tenant), ConversationId(uuid4())
    other = a_bot(tenant, bot.user_id)
    conversations.append(entry(bot, conversation))
    assert texts(conversations, other, conversation) == []
    with pytest.raises(Conflict) as raised:
        conversations.append(entry(other, conversation))
    assert raised.value.code == "conversation_of_another_bot"
    assert len(texts(conversations, bot, conversation)) == 2


def test_conversations_are_listed_by_bot_and_deleted_with_all_that_was_said(
    tenant: Database, database: TestDatabase
) -> None:
    conversations, bot = PostgresConversations(tenant), a_bot(tenant)
    ids = [ConversationId(uuid4()) for _ in range(3)]
    for conversation in ids:
        conversations.append(entry(bot, conversation))
    first = conversations.list(bot.user_id, bot.id, limit=2, cursor=None)
    second = conversations.list(bot.user_id, bot.id, limit=2, cursor=first.next_cursor)
    assert [one.id for one in (*first.items, *second.items)] == ids[::-1]
    assert conversations.delete(bot.user_id, ids[0])
    assert not conversations.delete(bot.user_id, ids[0])
    with psycopg.connect(database.owner) as owner:
        assert owner.execute("select count(*) from messages").fetchone() == (4,)


def test_conversations_expire_when_nothing_was_said_for_long_and_go_with_their_bot(
    tenant: Database, worker: Database, database: TestDatabase
) -> None:
    conversations, bot = PostgresConversations(tenant), a_bot(tenant)
    old, new = ConversationId(uuid4()), ConversationId(uuid4())
    conversations.append(entry(bot, old))
    conversations.append(entry(bot, new))
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("update conversations set updated_at = now() - interval '31 days' where id = %s", (old,))
    maintenance = PostgresMaintenance(worker)
    assert maintenance.expire_conversations(older_than=timedelta(days=30)) == 1
    assert conversations.get(bot.user_id, old) is None
    assert len(texts(conversations, bot, new)) == 2
    PostgresBots(tenant).delete(bot.user_id, bot.id)
    maintenance.purge_bot(bot.user_id, bot.id)
    with psycopg.connect(database.owner) as owner:
        assert owner.execute("select count(*) from conversations").fetchone() == (0,)
        assert owner.execute("select count(*) from messages").fetchone() == (0,)
