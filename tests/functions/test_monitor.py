"""The monitor function on a schedule event, with a real tool server; what it finds is shown by /health and /stats."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from tests.conftest import TestDatabase
from tests.fakes.tool_records import a_bot, a_server, an_execution
from tests.fakes.tool_servers import ToolServer, tool_server
from tests.functions.conftest import Api, LambdaContext

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.domain.ids import BotId, ToolServerId, UserId
from botforge_dev.fakes.loopback import Respond


@pytest.fixture
def server() -> Iterator[ToolServer]:
    with tool_server("/api") as running:
        yield running


def a_round(api: Api, database: TestDatabase) -> dict[str, int]:
    """What a round of the monitor returned; the rounds before it count as long ago."""
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("update mcp_servers set claimed_at = null")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", database.worker)
        return api.handler("monitor")(
            {"detail-type": "Scheduled Event"}, LambdaContext("monitor", remaining_ms=240_000)
        )


def test_a_server_that_keeps_failing_leaves_the_tools_and_health_says_so_without_failing_itself(
    api: Api, database: TestDatabase, server: ToolServer
) -> None:
    bot = api.create_bot()
    assert api.register_server(bot, server.url).status == 201
    assert a_round(api, database)["servers_answered"] == 1
    server.capabilities = server.tool_list = Respond(500, {})
    for _ in range(3):
        assert a_round(api, database)["servers_failed"] == 1
    health = api.call("GET", "/health")
    assert health.status == 200
    servers = health.json["dependencies"]["tool_servers"]
    assert (servers["status"], servers["required"]) == ("degraded", False)
    assert servers["counts"] == {"unknown": 0, "healthy": 0, "unhealthy": 0, "open": 1}
    assert server.url not in health.body
    server.capabilities = server.tool_list = None
    assert a_round(api, database)["servers_answered"] == 1
    assert api.call("GET", "/health").json["dependencies"]["tool_servers"]["status"] == "ok"


def test_an_execution_that_nobody_ended_becomes_unknown_and_the_statistics_count_it(
    api: Api, database: TestDatabase, server: ToolServer
) -> None:
    bot = api.create_bot()
    made = api.register_server(bot, server.url).json
    tenant = Database(database.tenant)
    owned = a_server(a_bot(UserId(api.user)), bot_id=BotId(UUID(bot)), id=ToolServerId(UUID(made["id"])))
    started = datetime.now(UTC) - timedelta(minutes=10)
    executions = PostgresExecutions(tenant)
    executions.start(an_execution(owned, timestamp=started))
    executions.start(an_execution(owned, timestamp=datetime.now(UTC)))
    tenant.close()
    assert a_round(api, database)["executions_expired"] == 1
    statistics = api.call("GET", f"/vector/stats/{api.user}/{bot}?window_hours=1").json
    assert statistics["executions_by_status"] == {"unknown": 1, "started": 1}
    assert statistics["tool_success_rate"] == 0
