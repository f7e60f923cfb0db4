"""What a database notes of its embedding model, on a real PostgreSQL as the runtime roles."""

from uuid import uuid4

import pytest
from tests.fakes.tool_records import NOW, a_bot, a_server, a_tool, a_vector

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.routing_examples import PostgresRoutingExamples
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.domain.bot import Bot
from botforge.domain.ids import RoutingExampleId
from botforge.domain.query import Intent
from botforge.domain.routing_example import RoutingExample


@pytest.fixture
def bot(tenant: Database) -> Bot:
    return PostgresBots(tenant).create(a_bot())


def test_the_first_model_is_noted_and_stays(tenant: Database, worker: Database) -> None:
    assert PostgresVectorSpace(tenant).adopt("one") == "one"
    assert PostgresVectorSpace(tenant).adopt("two") == "one"
    assert PostgresVectorSpace(worker).adopt("two") == "one"


def test_a_tenants_role_cannot_change_the_model(tenant: Database) -> None:
    space = PostgresVectorSpace(tenant)
    space.adopt("one")
    with pytest.raises(Exception, match="permission denied"):
        space.switch("two", {}, {})
    assert space.adopt("two") == "one"


def test_a_switch_changes_the_note_and_every_vector_together(tenant: Database, worker: Database, bot: Bot) -> None:
    server = a_server(bot)
    known, late = a_tool(server, "add"), a_tool(server, "subtract")
    servers, examples = PostgresToolServers(tenant), PostgresRoutingExamples(tenant)
    servers.create(server, [known, late], [a_vector(1.0), a_vector(1.0)])
    made = [
        RoutingExample(RoutingExampleId(uuid4()), bot.user_id, bot.id, text, Intent.EXECUTION, NOW, NOW)
        for text in ("Ship it", "Send it")
    ]
    kept, gone = examples.save(made, [a_vector(1.0), a_vector(1.0)])
    space = PostgresVectorSpace(worker)
    space.adopt("one")
    assert {tool for tool, _ in space.tools()} == {known.id, late.id}
    assert set(space.examples()) == {(kept.id, kept.text), (gone.id, gone.text)}
    new = a_vector(0.0, 1.0)
    space.switch("two", {known.id: new}, {kept.id: new})
    assert space.adopt("three") == "two"
    ((found, cosine),) = servers.nearest(bot.user_id, bot.id, new, limit=10)
    assert (found.tool.id, cosine) == (known.id, pytest.approx(1.0, abs=1e-3))
    (evidence,) = examples.nearest(bot.user_id, bot.id, new, limit=10)
    assert evidence.cosine == pytest.approx(1.0, abs=1e-3)
    assert examples.get(bot.user_id, bot.id, gone.id) is None
