"""What the table of routing examples promises, on a real PostgreSQL as the runtime roles."""

from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import scalar_row
from tests.conftest import TestDatabase
from tests.fakes.tool_records import NOW, a_bot, a_vector

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.routing_examples import PostgresRoutingExamples
from botforge.domain.bot import Bot
from botforge.domain.errors import Conflict, NotFound
from botforge.domain.ids import BotId, RoutingExampleId, UserId
from botforge.domain.query import Intent
from botforge.domain.routing_example import MAX_EXAMPLES_PER_BOT, RoutingExample

ACT, ASK = Intent.EXECUTION, Intent.INFORMATION_RETRIEVAL


@pytest.fixture
def bot(tenant: Database) -> Bot:
    return PostgresBots(tenant).create(a_bot())


@pytest.fixture
def examples(tenant: Database) -> PostgresRoutingExamples:
    return PostgresRoutingExamples(tenant)


def an_example(bot: Bot, text: str = "Ship it", intent: Intent = ACT) -> RoutingExample:
    return RoutingExample(RoutingExampleId(uuid4()), bot.user_id, bot.id, text, intent, NOW, NOW)


def texts(examples: PostgresRoutingExamples, bot: Bot) -> list[tuple[str, Intent]]:
    page = examples.list(bot.user_id, bot.id, limit=100, cursor=None)
    return sorted((example.text, example.intent) for example in page.items)


def test_an_example_comes_back_as_it_was_saved(examples: PostgresRoutingExamples, bot: Bot) -> None:
    (saved,) = examples.save([an_example(bot, "Ship it, é!")], [a_vector(1.0)])
    assert (saved.text, saved.intent, saved.bot_id) == ("Ship it, é!", ACT, bot.id)
    assert examples.get(bot.user_id, bot.id, saved.id) == saved
    assert examples.list(bot.user_id, bot.id, limit=10, cursor=None).items == [saved]


def test_the_same_sentence_again_changes_its_intent_and_adds_no_row(
    examples: PostgresRoutingExamples, bot: Bot
) -> None:
    (first,) = examples.save([an_example(bot, "Ship it")], [a_vector(1.0)])
    (second,) = examples.save([an_example(bot, "ship  IT", ASK)], [a_vector(1.0)])
    assert second.id == first.id
    assert texts(examples, bot) == [("ship  IT", ASK)]


def test_lists_are_paged(examples: PostgresRoutingExamples, bot: Bot) -> None:
    examples.save([an_example(bot, f"Number {number}") for number in range(5)], [a_vector(1.0)] * 5)
    first = examples.list(bot.user_id, bot.id, limit=3, cursor=None)
    second = examples.list(bot.user_id, bot.id, limit=3, cursor=first.next_cursor)
    assert (len(first.items), len(second.items), second.next_cursor) == (3, 2, None)
    assert len({example.id for example in [*first.items, *second.items]}) == 5


def test_an_example_is_changed_unless_another_has_its_text(examples: PostgresRoutingExamples, bot: Bot) -> None:
    one, two = examples.save([an_example(bot, "One"), an_example(bot, "Two")], [a_vector(1.0)] * 2)
    changed = examples.update(replace(one, text="Three", intent=ASK), a_vector(0.0, 1.0))
    assert changed is not None
    assert (changed.text, changed.intent) == ("Three", ASK)
    with pytest.raises(Conflict):
        examples.update(replace(two, text="three"), a_vector(1.0))
    assert examples.update(an_example(bot, "Unknown"), a_vector(1.0)) is None


def test_the_best_of_each_intent_is_among_the_nearest(examples: PostgresRoutingExamples, bot: Bot) -> None:
    acts = [an_example(bot, f"Act {number}") for number in range(4)]
    examples.save([*acts, an_example(bot, "Ask", ASK)], [*[a_vector(1.0)] * 4, a_vector(1.0, 1.0)])
    near = examples.nearest(bot.user_id, bot.id, a_vector(1.0), limit=2)
    assert [(one.intent, round(one.cosine, 2)) for one in near] == [(ACT, 1.0), (ASK, 0.71)]
    assert examples.nearest(bot.user_id, BotId(uuid4()), a_vector(1.0), limit=2) == []


def test_a_deleted_example_is_gone(examples: PostgresRoutingExamples, bot: Bot) -> None:
    (saved,) = examples.save([an_example(bot)], [a_vector(1.0)])
    assert examples.delete(bot.user_id, bot.id, saved.id)
    assert not examples.delete(bot.user_id, bot.id, saved.id)
    assert texts(examples, bot) == []


def test_a_bot_has_no_more_examples_than_it_may(examples: PostgresRoutingExamples, bot: Bot) -> None:
    many = [an_example(bot, f"Number {number}") for number in range(MAX_EXAMPLES_PER_BOT)]
    examples.save(many, [a_vector(1.0)] * len(many))
    with pytest.raises(Conflict) as refused:
        examples.save([an_example(bot, "One more")], [a_vector(1.0)])
    assert refused.value.code == "too_many_routing_examples"
    examples.save([an_example(bot, "Number 7", ASK)], [a_vector(1.0)])  # no further row
    assert len(texts(examples, bot)) == 100
    assert ("One more", ACT) not in texts(examples, bot)


def test_another_tenant_can_neither_see_nor_change_examples(
    examples: PostgresRoutingExamples, bot: Bot, tenant: Database
) -> None:
    (saved,) = examples.save([an_example(bot)], [a_vector(1.0)])
    stranger = UserId(uuid4())
    assert examples.get(stranger, bot.id, saved.id) is None
    assert examples.list(stranger, bot.id, limit=10, cursor=None).items == []
    assert examples.nearest(stranger, bot.id, a_vector(1.0), limit=5) == []
    assert not examples.delete(stranger, bot.id, saved.id)
    assert examples.update(replace(saved, user_id=stranger, intent=ASK), a_vector(1.0)) is None
    with pytest.raises(NotFound):
        examples.save([replace(an_example(bot, "Mine"), user_id=stranger)], [a_vector(1.0)])
    with tenant.transaction(stranger) as connection:
        assert connection.execute("select count(*) from routing_examples").fetchone() == (0,)
    assert texts(examples, bot) == [("Ship it", ACT)]


def test_a_deleted_bots_examples_are_gone_at_once_and_purged_later(
    examples: PostgresRoutingExamples, bot: Bot, tenant: Database, worker: Database, database: TestDatabase
) -> None:
    (saved,) = examples.save([an_example(bot)], [a_vector(1.0)])
    PostgresBots(tenant).delete(bot.user_id, bot.id)
    assert examples.get(bot.user_id, bot.id, saved.id) is None
    assert examples.nearest(bot.user_id, bot.id, a_vector(1.0), limit=5) == []
    assert not examples.delete(bot.user_id, bot.id, saved.id)
    PostgresMaintenance(worker).purge_bot(bot.user_id, bot.id)
    with psycopg.connect(database.owner) as owner, owner.cursor(row_factory=scalar_row) as rows:
        assert rows.execute("select count(*) from routing_examples").fetchone() == 0
