"""What the tables of tool servers, tools and executions promise, on a real PostgreSQL as the runtime roles."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import scalar_row
from tests.conftest import TestDatabase
from tests.fakes.tool_records import NOW, a_bot, a_definition, a_server, a_tool, a_vector, an_execution

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.server_checks import PostgresServerChecks
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.domain.bot import Bot
from botforge.domain.errors import Conflict, NotFound
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import UserId
from botforge.domain.tool import (
    MAX_SERVERS_PER_BOT,
    CredentialKind,
    Dialect,
    Effect,
    ServerHealth,
    ServerStatus,
    Tool,
    ToolPolicy,
    ToolServer,
    ToolStatus,
)

OUTCOME = ExecutionOutcome(ExecutionStatus.SUCCEEDED, 12, 1, output_result={"sum": 3})


@pytest.fixture
def bot(tenant: Database) -> Bot:
    return PostgresBots(tenant).create(a_bot())


@pytest.fixture
def servers(tenant: Database) -> PostgresToolServers:
    return PostgresToolServers(tenant)


@pytest.fixture
def executions(tenant: Database) -> PostgresExecutions:
    return PostgresExecutions(tenant)


def registered(servers: PostgresToolServers, server: ToolServer, *tools: Tool | str) -> ToolServer:
    made = [a_tool(server, tool) if isinstance(tool, str) else tool for tool in tools]
    servers.create(server, made, [a_vector(1.0)] * len(made))
    return server


def names(servers: PostgresToolServers, bot: Bot) -> list[str]:
    found = servers.nearest(bot.user_id, bot.id, a_vector(1.0), limit=10)
    assert servers.callable_count(bot.user_id, bot.id) == len(found)
    return sorted(row.tool.definition.name for row, _ in found)


def test_a_server_and_its_tools_come_back_as_they_were_saved(servers: PostgresToolServers, bot: Bot) -> None:
    server = a_server(
        bot,
        policies={"pay": ToolPolicy(Effect.IDEMPOTENT, 0), "*": ToolPolicy(Effect.READ_ONLY, 60)},
        sealed_credential=b"\x00\xff",
        credential_kind=CredentialKind.HEADER,
        dialect=Dialect.MCP_STATELESS,
    )
    definition = a_definition("pay", "Pay it. \u00e9", output_schema={"type": "object"}, header_parameters={"a": "X-A"})
    tool = a_tool(server, definition=definition, pending=None)
    waiting = a_tool(server, "zoom", status=ToolStatus.NEEDS_REVIEW, pending=a_definition("zoom", "Other."))
    servers.create(server, [tool, waiting], [a_vector(1.0), a_vector(0.0, 1.0)])
    kept = servers.get(bot.user_id, server.id)
    assert kept == server
    first, second = servers.tools_of(bot.user_id, server.id)
    assert replace(first, updated_at=NOW) == tool
    assert replace(second, updated_at=NOW) == waiting
    assert list(first.definition.input_schema["properties"]) == ["b", "a"]
    found = servers.tool(bot.user_id, tool.id)
    assert found is not None
    assert (found.server, found.tool) == (server, first)


def test_what_a_stranger_writes_is_stored_whatever_it_holds(servers: PostgresToolServers, bot: Bot) -> None:
    server = a_server(bot)
    schema: dict[str, Any] = {"type": "object", "properties": {}, "default": "\x00 \ud800", "maximum": float("nan")}
    tool = a_tool(server, definition=a_definition("a", "NUL \x00 surrogate \ud800", input_schema=schema, digest="d"))
    registered(servers, server, tool)
    (kept,) = servers.tools_of(bot.user_id, server.id)
    assert kept.definition.description == "NUL \ufffd surrogate ?"
    assert kept.definition.input_schema == {**schema, "maximum": "nan"}


def test_a_server_needs_a_bot_of_its_owner_and_a_free_name(servers: PostgresToolServers, bot: Bot) -> None:
    registered(servers, a_server(bot, "one"), "tool")
    with pytest.raises(Conflict) as taken:
        registered(servers, a_server(bot, "one"))
    assert taken.value.code == "name_taken"
    stranger = a_bot()
    for bot_of_nobody in (stranger, replace(stranger, id=bot.id), replace(stranger, user_id=bot.user_id)):
        with pytest.raises(NotFound):
            registered(servers, a_server(bot_of_nobody, "two"))


def test_a_registration_that_fails_leaves_nothing(servers: PostgresToolServers, bot: Bot) -> None:
    server = a_server(bot)
    with pytest.raises(psycopg.errors.UniqueViolation):
        registered(servers, server, a_tool(server, "same"), a_tool(server, "same"))
    assert servers.get(bot.user_id, server.id) is None


def test_two_registrations_at_once_cannot_both_take_the_last_place(database: TestDatabase, bot: Bot) -> None:
    with psycopg.connect(database.owner, autocommit=True) as owner:
        statement = """
            insert into mcp_servers (id, user_id, bot_id, name, endpoint_url, description, config, protocol)
            select gen_random_uuid(), %s, %s, 'server ' || n, 'https://a.example', '', '{"policies": {}}', 'auto'
            from generate_series(2, %s) as n
        """
        owner.execute(statement, (bot.user_id, bot.id, MAX_SERVERS_PER_BOT))
    connections = [Database(database.tenant) for _ in range(4)]

    def register(connection: Database) -> str:
        try:
            registered(PostgresToolServers(connection), a_server(bot, f"new {uuid4()}"))
        except Conflict as error:
            return error.code
        return "registered"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(register, connections))
    for connection in connections:
        connection.close()
    assert outcomes == ["registered", *["too_many_servers"] * 3]


def test_a_foreign_server_is_as_unknown_as_one_that_does_not_exist(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot
) -> None:
    server = registered(servers, a_server(bot), "tool")
    server = registered(servers, a_server(bot, "mine"))
    tool = a_tool(server)
    servers.save_tools(bot.user_id, server.id, [tool], {tool.id: a_vector(1.0)})
    execution = an_execution(server)
    executions.start(execution)
    stranger = UserId(uuid4())
    theirs = replace(server, user_id=stranger)
    assert servers.get(stranger, server.id) is None
    assert servers.tool(stranger, tool.id) is None
    assert servers.list(stranger, bot.id, limit=9, cursor=None).items == []
    assert servers.tools(stranger, bot_id=bot.id, limit=9, cursor=None).items == []
    assert servers.tools(stranger, bot_id=None, limit=9, cursor=None).items == []
    assert servers.tools_of(stranger, server.id) == []
    assert servers.nearest(stranger, bot.id, a_vector(1.0), limit=9) == []
    assert servers.update(theirs) is None
    assert not servers.delete(stranger, server.id)
    with pytest.raises(NotFound):
        servers.save_tools(stranger, server.id, [replace(tool, status=ToolStatus.DISABLED)], {})
    with pytest.raises(NotFound):
        executions.start(replace(an_execution(server), user_id=stranger))
    assert not executions.finish(stranger, execution.id, OUTCOME)
    assert listed(executions, Bot(bot.id, stranger, "", "", True, 1, 0.1, NOW, NOW)) == []
    assert servers.get(bot.user_id, server.id) == server
    assert "tool" in names(servers, bot)


@pytest.mark.parametrize("table", ["mcp_servers", "mcp_tools", "mcp_executions"])
def test_row_level_security_hides_the_tools_of_others_even_from_a_query_without_a_condition(
    tenant: Database, servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot, table: str
) -> None:
    server = a_server(bot)
    registered(servers, server, a_tool(server))
    executions.start(an_execution(server))
    count = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
    for user, rows in ((bot.user_id, 1), (UserId(uuid4()), 0), (None, 0)):
        with tenant.transaction(user) as connection:
            assert connection.execute(count).fetchone() == (rows,)


def test_only_what_the_roles_need_is_granted(tenant: Database, worker: Database) -> None:
    """An execution is evidence: nobody changes what was asked for. The monitor changes no address and no credential."""
    forbidden = [
        (tenant, "delete from mcp_executions"),
        (tenant, "update mcp_executions set input_parameters = '{}'"),
        (tenant, "delete from mcp_servers"),
        (worker, "update mcp_servers set endpoint_url = ''"),
        (worker, "update mcp_servers set sealed_credential = ''"),
        (worker, "update mcp_executions set output_result = '{}'"),
        (worker, "insert into mcp_executions (id) values (gen_random_uuid())"),
    ]
    for database, statement in forbidden:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction(None) as connection:
            connection.execute(statement)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_lists_of_servers_and_tools_are_paged_without_gaps_or_repeats(servers: PostgresToolServers, bot: Bot) -> None:
    for number in range(5):
        server = a_server(bot, f"server {number}", created_at=NOW + timedelta(seconds=number % 3))
        registered(servers, server, a_tool(server, "first"), a_tool(server, "second"))
    seen: list[str] = []
    cursor = None
    while True:
        page = servers.list(bot.user_id, bot.id, limit=2, cursor=cursor)
        seen += [server.name for server in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert sorted(seen) == [f"server {number}" for number in range(5)]
    for bot_id in (bot.id, None):
        found: list[tuple[str, str]] = []
        cursor = None
        while True:
            tools = servers.tools(bot.user_id, bot_id=bot_id, limit=3, cursor=cursor)
            found += [(row.server.name, row.tool.definition.name) for row in tools.items]
            if (cursor := tools.next_cursor) is None:
                break
        assert len(found) == len(set(found)) == 10


def test_tools_are_found_nearest_first_within_their_bot(
    servers: PostgresToolServers, bot: Bot, tenant: Database
) -> None:
    server, other = a_server(bot), PostgresBots(tenant).create(a_bot(bot.user_id))
    tools = [a_tool(server, name) for name in ("far", "near", "nearest")]
    servers.create(server, tools, [a_vector(0.0, 1.0), a_vector(0.8, 0.6), a_vector(1.0)])
    registered(servers, a_server(other), "tool")
    found = servers.nearest(bot.user_id, bot.id, a_vector(1.0), limit=2)
    assert [row.tool.definition.name for row, _ in found] == ["nearest", "near"]
    assert [similarity for _, similarity in found] == [pytest.approx(1, abs=1e-3), pytest.approx(0.8, abs=1e-3)]


def test_tools_near_to_any_of_several_vectors_are_found_at_once_with_their_similarity_to_each(
    servers: PostgresToolServers, bot: Bot
) -> None:
    server = a_server(bot)
    tools = [a_tool(server, name) for name in ("first", "second", "neither")]
    servers.create(server, tools, [a_vector(1.0), a_vector(0.6, 0.8), a_vector(0.0, 0.0, 1.0)])

    found = servers.nearest_to_any(bot.user_id, bot.id, [a_vector(1.0), a_vector(0.0, 1.0)], limit=1)

    assert {row.tool.definition.name: pytest.approx(cosines, abs=1e-3) for row, cosines in found} == {
        "first": [1, 0],
        "second": [0.6, 0.8],
    }
    assert servers.nearest_to_any(UserId(uuid4()), bot.id, [a_vector(1.0)], limit=9) == []


def test_only_tools_that_may_be_called_are_offered(servers: PostgresToolServers, bot: Bot) -> None:
    server, idle, broken = a_server(bot), a_server(bot, "idle", is_active=False), a_server(bot, "broken")
    tools = [a_tool(server, status.value, status=status) for status in ToolStatus]
    registered(servers, server, *tools)
    registered(servers, idle, a_tool(idle, "idle"))
    registered(servers, broken, a_tool(broken, "broken"))
    assert names(servers, bot) == ["active", "broken"]
    assert servers.withheld(bot.user_id, bot.id) == []
    servers.update(replace(broken, health=ServerHealth(ServerStatus.OPEN, None, 3, NOW + timedelta(1), "x")))
    assert names(servers, bot) == ["active"]
    assert servers.withheld(bot.user_id, bot.id) == ["broken"]
    assert servers.delete(bot.user_id, broken.id)
    assert servers.withheld(bot.user_id, bot.id) == []


def test_saving_tools_replaces_by_id_and_keeps_the_vector_of_a_definition_that_did_not_change(
    servers: PostgresToolServers, bot: Bot
) -> None:
    server = a_server(bot)
    tool = a_tool(server)
    servers.create(server, [tool], [a_vector(1.0)])
    servers.save_tools(bot.user_id, server.id, [replace(tool, status=ToolStatus.DISABLED)], {})
    assert names(servers, bot) == []
    servers.save_tools(bot.user_id, server.id, [tool], {})
    assert names(servers, bot) == ["tool"]
    changed = replace(tool, definition=a_definition("tool", "Other."))
    servers.save_tools(bot.user_id, server.id, [changed], {tool.id: a_vector(0.0, 1.0)})
    ((row, similarity),) = servers.nearest(bot.user_id, bot.id, a_vector(0.0, 1.0), limit=2)
    assert (row.tool.definition, similarity) == (changed.definition, pytest.approx(1))


def test_a_tool_whose_definition_has_no_vector_is_not_offered(servers: PostgresToolServers, bot: Bot) -> None:
    server = registered(servers, a_server(bot))
    servers.save_tools(bot.user_id, server.id, [a_tool(server)], {})
    assert names(servers, bot) == []


def test_a_change_is_saved_with_its_tools_and_the_newer_check_counts(servers: PostgresToolServers, bot: Bot) -> None:
    server = registered(servers, a_server(bot))
    older, newer = (
        ServerHealth(ServerStatus.OPEN, 9.0, 3, NOW + timedelta(minutes=minutes), "x") for minutes in (-1, 1)
    )
    new = a_tool(server, "new", status=ToolStatus.NEEDS_REVIEW, pending=a_definition("new"))
    changed = servers.update(replace(server, name="other", timeout_seconds=5, health=older), [new])
    assert changed is not None
    assert (changed.name, changed.timeout_seconds, changed.health) == ("other", 5, server.health)
    assert [tool.id for tool in servers.tools_of(bot.user_id, server.id)] == [new.id]
    checked = servers.update(replace(changed, health=newer))
    assert checked is not None
    assert checked.health == newer
    registered(servers, a_server(bot, "third"))
    with pytest.raises(Conflict) as taken:
        servers.update(replace(checked, name="third"))
    assert taken.value.code == "name_taken"


def test_of_two_changes_to_what_was_read_once_the_second_is_refused(servers: PostgresToolServers, bot: Bot) -> None:
    server = registered(servers, a_server(bot))
    servers.update(replace(server, description="first"))
    with pytest.raises(Conflict) as raised:
        servers.update(replace(server, description="second"), [a_tool(server)])
    assert raised.value.code == "changed_meanwhile"
    kept = servers.get(bot.user_id, server.id)
    assert kept is not None
    assert kept.description == "first"
    assert servers.tools_of(bot.user_id, server.id) == []


def test_a_deleted_server_is_gone_its_credential_too_and_its_executions_stay(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot, database: TestDatabase
) -> None:
    server = a_server(bot, sealed_credential=b"x", credential_kind=CredentialKind.BEARER)
    registered(servers, server, a_tool(server))
    execution = an_execution(server)
    executions.start(execution)
    assert servers.delete(bot.user_id, server.id)
    assert not servers.delete(bot.user_id, server.id)
    assert servers.get(bot.user_id, server.id) is None
    assert servers.update(server) is None
    assert names(servers, bot) == []
    assert [row.server_name for row in listed(executions, bot)] == ["server"]
    assert executions.finish(bot.user_id, execution.id, OUTCOME)
    with pytest.raises(NotFound):
        executions.start(an_execution(server))
    with psycopg.connect(database.owner) as owner:
        assert owner.execute("select sealed_credential from mcp_servers").fetchall() == [(None,)]
    registered(servers, a_server(bot))


def test_a_deleted_bots_tools_are_gone_at_once_and_purged_later(
    servers: PostgresToolServers,
    executions: PostgresExecutions,
    bot: Bot,
    tenant: Database,
    worker: Database,
    database: TestDatabase,
) -> None:
    server = a_server(bot)
    registered(servers, server, a_tool(server))
    executions.start(an_execution(server))
    PostgresBots(tenant).delete(bot.user_id, bot.id)
    assert servers.get(bot.user_id, server.id) is None
    assert servers.update(server) is None
    assert names(servers, bot) == []
    assert servers.tools(bot.user_id, bot_id=None, limit=9, cursor=None).items == []
    assert PostgresServerChecks(worker).claim_due(limit=9, not_since=timedelta(0)) == []
    PostgresMaintenance(worker).purge_bot(bot.user_id, bot.id)
    with psycopg.connect(database.owner) as owner:
        for table in ("bots", "mcp_servers", "mcp_tools", "mcp_executions"):
            count = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
            assert owner.execute(count).fetchone() == (0,)


def listed(executions: PostgresExecutions, bot: Bot, **filters: Any) -> Sequence[Execution]:  # noqa: ANN401
    given: dict[str, Any] = {"status": None, "tool_name": None, "since": None, "until": None, **filters}
    return executions.list(bot.user_id, bot.id, limit=50, cursor=None, **given).items


def test_an_execution_is_started_and_ended_once(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot
) -> None:
    server = registered(servers, a_server(bot))
    execution = an_execution(server)
    executions.start(execution)
    assert listed(executions, bot) == [execution]
    assert executions.finish(bot.user_id, execution.id, OUTCOME)
    assert not executions.finish(bot.user_id, execution.id, replace(OUTCOME, status=ExecutionStatus.FAILED))
    ended = replace(
        execution, status=ExecutionStatus.SUCCEEDED, execution_time_ms=12, attempts=1, output_result={"sum": 3}
    )
    assert listed(executions, bot) == [ended]


def test_starting_an_execution_twice_leaves_one_row_and_never_reopens_it(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot
) -> None:
    execution = an_execution(registered(servers, a_server(bot)))
    executions.start(execution)
    executions.start(execution)
    assert len(listed(executions, bot)) == 1
    executions.finish(bot.user_id, execution.id, OUTCOME)
    with pytest.raises(NotFound):
        executions.start(execution)


def test_any_json_that_a_call_brings_is_kept(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot
) -> None:
    execution = an_execution(
        registered(servers, a_server(bot)), input_parameters={"x": "\x00\ud800", "n": float("inf")}
    )
    executions.start(execution)
    outcome = replace(OUTCOME, output_result=[1e400, "\x00"], error_message="\x00")
    assert executions.finish(bot.user_id, execution.id, outcome)
    (kept,) = listed(executions, bot)
    assert kept == replace(
        execution,
        status=ExecutionStatus.SUCCEEDED,
        input_parameters={"x": "\x00\ud800", "n": "inf"},
        output_result=["inf", "\x00"],
        execution_time_ms=12,
        attempts=1,
        error_message="\ufffd",
    )


def test_executions_are_filtered_by_status_tool_and_time_and_paged(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot
) -> None:
    server = registered(servers, a_server(bot))
    made = [an_execution(server, number, tool_name="even" if number % 2 == 0 else "odd") for number in range(6)]
    for execution in made:
        executions.start(execution)
    executions.finish(bot.user_id, made[0].id, replace(OUTCOME, status=ExecutionStatus.UNKNOWN))
    made[0] = replace(made[0], status=ExecutionStatus.UNKNOWN)

    def ids(**filters: Any) -> list[int]:  # noqa: ANN401
        known = [execution.id for execution in made]
        return [known.index(row.id) for row in listed(executions, bot, **filters)]

    assert ids() == [5, 4, 3, 2, 1, 0]
    assert ids(status=ExecutionStatus.UNKNOWN) == [0]
    assert ids(tool_name="odd") == [5, 3, 1]
    assert ids(since=NOW + timedelta(minutes=2), until=NOW + timedelta(minutes=4)) == [3, 2]
    first = executions.list(
        bot.user_id, bot.id, status=None, tool_name="even", since=None, until=None, limit=2, cursor=None
    )
    rest = executions.list(
        bot.user_id, bot.id, status=None, tool_name="even", since=None, until=None, limit=2, cursor=first.next_cursor
    )
    assert [row.id for row in (*first.items, *rest.items)] == [made[4].id, made[2].id, made[0].id]
    assert rest.next_cursor is None


def test_an_execution_whose_worker_never_came_back_becomes_unknown(
    servers: PostgresToolServers, executions: PostgresExecutions, bot: Bot, worker: Database, database: TestDatabase
) -> None:
    server = registered(servers, a_server(bot))
    stuck, ended, fresh = an_execution(server, 0), an_execution(server, 1), an_execution(server, 2)
    for execution in (stuck, ended, fresh):
        executions.start(execution)
    executions.finish(bot.user_id, ended.id, OUTCOME)
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("update mcp_executions set timestamp = now() where id = %s", (fresh.id,))
    assert PostgresMaintenance(worker).expire_executions(older_than=timedelta(minutes=5)) == 1
    kept = executions.list(
        bot.user_id,
        bot.id,
        status=ExecutionStatus.UNKNOWN,
        tool_name=None,
        since=None,
        until=None,
        limit=9,
        cursor=None,
    )
    assert [(row.id, row.error_code) for row in kept.items] == [(stuck.id, "worker_lost")]
    assert not executions.finish(bot.user_id, stuck.id, OUTCOME)


def test_two_monitors_that_overlap_never_check_the_same_server(
    servers: PostgresToolServers, bot: Bot, worker: Database, database: TestDatabase
) -> None:
    made = {registered(servers, a_server(bot, f"server {number}")).id for number in range(40)}
    other = Database(database.worker)
    # The first has claimed and not yet committed: the second does not wait for it, and does not get the same.
    with worker.transaction(None):
        first = PostgresServerChecks(worker).claim_due(limit=15, not_since=timedelta(minutes=4))
        second = PostgresServerChecks(other).claim_due(limit=15, not_since=timedelta(minutes=4))
    rest = PostgresServerChecks(other).claim_due(limit=100, not_since=timedelta(minutes=4))
    assert PostgresServerChecks(worker).claim_due(limit=100, not_since=timedelta(minutes=4)) == []
    other.close()
    claimed = [server.id for server in (*first, *second, *rest)]
    assert len(claimed) == len(set(claimed)) == 40
    assert set(claimed) == made


def test_many_monitors_at_once_claim_every_server_once(
    servers: PostgresToolServers, bot: Bot, database: TestDatabase
) -> None:
    for number in range(60):
        registered(servers, a_server(bot, f"server {number}"))
    connections = [Database(database.worker) for _ in range(4)]

    def claim(connection: Database) -> list[object]:
        checks, claimed = PostgresServerChecks(connection), list[object]()
        while batch := checks.claim_due(limit=7, not_since=timedelta(minutes=4)):
            claimed += [server.id for server in batch]
        return claimed

    with ThreadPoolExecutor(4) as pool:
        claimed = [server for batch in pool.map(claim, connections) for server in batch]
    for connection in connections:
        connection.close()
    assert len(claimed) == len(set(claimed)) == 60


def test_the_server_that_was_checked_longest_ago_is_claimed_first_and_an_idle_one_never(
    servers: PostgresToolServers, bot: Bot, worker: Database
) -> None:
    def checked(minutes: float | None) -> ServerHealth:
        return ServerHealth(checked_at=None if minutes is None else NOW + timedelta(minutes=minutes))

    registered(servers, a_server(bot, "new", health=checked(9)))
    registered(servers, a_server(bot, "old", health=checked(1)))
    registered(servers, a_server(bot, "never", health=checked(None)))
    registered(servers, a_server(bot, "idle", is_active=False))
    checks = PostgresServerChecks(worker)
    claimed = [
        [server.name for server in checks.claim_due(limit=limit, not_since=timedelta(minutes=1))] for limit in (2, 9)
    ]
    assert claimed == [["never", "old"], ["new"]]


def test_a_check_saves_health_dialect_and_changed_tools(
    servers: PostgresToolServers, bot: Bot, worker: Database
) -> None:
    server = a_server(bot)
    tool = a_tool(server)
    registered(servers, server, tool)
    checks = PostgresServerChecks(worker)
    (read,) = checks.tools_of(server)
    changed = replace(read, status=ToolStatus.NEEDS_REVIEW, pending=a_definition("tool", "Other."))
    new = a_tool(server, "new", status=ToolStatus.NEEDS_REVIEW, pending=a_definition("new"))
    health = ServerHealth(ServerStatus.UNHEALTHY, 7.5, 2, NOW, "tool_server_timeout")
    checks.save_check(server, health, [changed, new], Dialect.MCP_HANDSHAKE)
    kept = servers.get(bot.user_id, server.id)
    assert kept is not None
    assert (kept.health, kept.dialect) == (health, Dialect.MCP_HANDSHAKE)
    by_name = {each.definition.name: each for each in servers.tools_of(bot.user_id, server.id)}
    assert by_name["tool"].pending == changed.pending
    assert by_name["new"].status is ToolStatus.NEEDS_REVIEW
    assert names(servers, bot) == []


def test_a_check_does_not_undo_what_the_owner_did_meanwhile(
    servers: PostgresToolServers, bot: Bot, worker: Database
) -> None:
    server = a_server(bot)
    tool = a_tool(server)
    registered(servers, server, tool)
    checks = PostgresServerChecks(worker)
    (read,) = checks.tools_of(server)
    servers.save_tools(bot.user_id, server.id, [replace(read, status=ToolStatus.DISABLED)], {})
    late = replace(read, status=ToolStatus.NEEDS_REVIEW, pending=a_definition("tool", "Other."))
    twin = a_tool(server, "tool", status=ToolStatus.NEEDS_REVIEW)
    checks.save_check(server, server.health, [late, twin], server.dialect)
    (kept,) = servers.tools_of(bot.user_id, server.id)
    assert (kept.id, kept.status, kept.pending) == (tool.id, ToolStatus.DISABLED, None)
    servers.update(replace(server, endpoint_url="https://elsewhere.example"))
    checks.save_check(server, ServerHealth(ServerStatus.OPEN), [], server.dialect)
    moved = servers.get(bot.user_id, server.id)
    assert moved is not None
    assert moved.health.status is ServerStatus.HEALTHY


def test_servers_are_counted_by_status_over_all_tenants(
    servers: PostgresToolServers, bot: Bot, tenant: Database, worker: Database
) -> None:
    other = PostgresBots(tenant).create(a_bot())
    registered(servers, a_server(bot))
    registered(servers, a_server(other, health=ServerHealth(ServerStatus.OPEN)))
    registered(servers, a_server(other, "idle", is_active=False))
    for database in (worker, tenant):
        counted = PostgresServerChecks(database).health()
        assert counted == {
            ServerStatus.UNKNOWN: 0,
            ServerStatus.HEALTHY: 1,
            ServerStatus.UNHEALTHY: 0,
            ServerStatus.OPEN: 1,
        }
    assert tenant.fetch(None, "select count(*) from mcp_servers", {}, scalar_row) == [0]
