"""The tables ``mcp_servers`` and ``mcp_tools``, as their owner sees them."""

from collections.abc import Mapping, Sequence
from typing import LiteralString

import psycopg
from psycopg.rows import kwargs_row, scalar_row

from botforge.adapters.postgres import cursors
from botforge.adapters.postgres.database import Connection, Database
from botforge.adapters.postgres.tool_rows import (
    SERVER_COLUMNS,
    TOOL_COLUMNS,
    as_server,
    as_server_tool,
    as_tool,
    literal,
    server_parameters,
    tool_parameters,
)
from botforge.domain.errors import Conflict, NotFound
from botforge.domain.ids import BotId, ToolId, ToolServerId, UserId
from botforge.domain.page import Page
from botforge.domain.tool import MAX_SERVERS_PER_BOT, ServerTool, Tool, ToolServer
from botforge.ports.embedding import Vector

# A deleted bot's servers are gone at once, though their rows wait for the monitor.
_SERVERS: LiteralString = "mcp_servers s join bots b on b.id = s.bot_id and b.deleted_at is null"
_CALLABLE: LiteralString = """
t.bot_id = %(bot)s and t.user_id = %(user)s and t.status = 'active' and t.embedding is not null
    and s.is_active and s.deleted_at is null and s.health_status <> 'open'
"""


class PostgresToolServers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, server: ToolServer, tools: Sequence[Tool], vectors: Sequence[Vector]) -> None:
        # The bot's row is the lock: two registrations at once cannot both take the last place.
        owned: LiteralString = """
            select 1 from bots where id = %(bot)s and user_id = %(user)s and deleted_at is null for update
        """
        held: LiteralString = "select count(*) from mcp_servers where bot_id = %(bot)s and deleted_at is null"
        statement: LiteralString = """
            insert into mcp_servers (id, user_id, bot_id, name, endpoint_url, description, is_active, timeout_seconds,
                retry_attempts, config, protocol, dialect, credential_kind, sealed_credential, health_status,
                latency_ms, consecutive_failures, checked_at, error_code, created_at, updated_at)
            values (%(id)s, %(user)s, %(bot)s, %(name)s, %(endpoint)s, %(description)s, %(active)s, %(timeout)s,
                %(retries)s, %(config)s, %(protocol)s, %(dialect)s, %(credential_kind)s, %(sealed)s, %(health)s,
                %(latency)s, %(failures)s, %(checked)s, %(error)s, %(created)s, %(created)s)
        """
        parameters = server_parameters(server)
        with self._database.transaction(server.user_id) as connection:
            if connection.execute(owned, parameters).fetchone() is None:
                raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
            (number,) = connection.execute(held, parameters).fetchone() or (0,)
            if number >= MAX_SERVERS_PER_BOT:
                raise Conflict(
                    f"A bot may have at most {MAX_SERVERS_PER_BOT} tool servers.",
                    code="too_many_servers",
                    next_step="Delete a server that is no longer needed.",
                )
            try:
                connection.execute(statement, parameters)
            except psycopg.errors.UniqueViolation as error:
                raise _name_taken() from error
            by_id = {tool.id: vector for tool, vector in zip(tools, vectors, strict=True)}
            _save(connection, server.user_id, tools, by_id)

    def get(self, user_id: UserId, server_id: ToolServerId) -> ToolServer | None:
        statement: LiteralString = f"""
            select {SERVER_COLUMNS} from {_SERVERS}
            where s.id = %(id)s and s.user_id = %(user)s and s.deleted_at is null
        """
        parameters = {"id": server_id, "user": user_id}
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(as_server))
        return rows[0] if rows else None

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[ToolServer]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {SERVER_COLUMNS} from {_SERVERS}
            where s.bot_id = %(bot)s and s.user_id = %(user)s and s.deleted_at is null
                and (%(after)s::timestamptz is null or (s.created_at, s.id) < (%(after)s, %(after_id)s))
            order by s.created_at desc, s.id desc limit %(limit)s
        """
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(as_server))
        return cursors.page(rows, limit, lambda server: cursors.Position(server.created_at, server.id))

    def update(self, server: ToolServer, tools: Sequence[Tool] = ()) -> ToolServer | None:
        # The health is the monitor's as well: the newer of two checks counts.
        newer: LiteralString = "%(checked)s::timestamptz > coalesce(s.checked_at, '-infinity')"
        statement: LiteralString = f"""
            update mcp_servers s set name = %(name)s, endpoint_url = %(endpoint)s, description = %(description)s,
                is_active = %(active)s, timeout_seconds = %(timeout)s, retry_attempts = %(retries)s,
                config = %(config)s, protocol = %(protocol)s, dialect = %(dialect)s,
                credential_kind = %(credential_kind)s, sealed_credential = %(sealed)s,
                health_status = case when {newer} then %(health)s else s.health_status end,
                latency_ms = case when {newer} then %(latency)s else s.latency_ms end,
                consecutive_failures = case when {newer} then %(failures)s else s.consecutive_failures end,
                error_code = case when {newer} then %(error)s else s.error_code end,
                checked_at = case when {newer} then %(checked)s else s.checked_at end,
                updated_at = now()
            where s.id = %(id)s and s.updated_at = %(read_at)s
            returning {SERVER_COLUMNS}
        """
        known: LiteralString = f"""
            select s.updated_at from {_SERVERS}
            where s.id = %(id)s and s.user_id = %(user)s and s.deleted_at is null for update of s
        """
        parameters = server_parameters(server)
        with (
            self._database.transaction(server.user_id) as connection,
            connection.cursor(row_factory=kwargs_row(as_server)) as rows,
        ):
            if connection.execute(known, parameters).fetchone() is None:
                return None
            try:
                updated = rows.execute(statement, parameters).fetchone()
            except psycopg.errors.UniqueViolation as error:
                raise _name_taken() from error
            if updated is None:
                raise Conflict(
                    "The tool server was changed at the same time.",
                    code="changed_meanwhile",
                    next_step="Read it again, and repeat the change.",
                )
            _save(connection, server.user_id, tools, {})
        return updated

    def delete(self, user_id: UserId, server_id: ToolServerId) -> bool:
        statement: LiteralString = """
            update mcp_servers set deleted_at = now(), is_active = false, sealed_credential = null,
                credential_kind = null, updated_at = now()
            where id = %(id)s and user_id = %(user)s and deleted_at is null
        """
        parameters = {"id": server_id, "user": user_id}
        with self._database.transaction(user_id) as connection:
            if connection.execute(statement, parameters).rowcount == 0:
                return False
            connection.execute("delete from mcp_tools where mcp_server_id = %(id)s", parameters)
        return True

    def tools(self, user_id: UserId, *, bot_id: BotId | None, limit: int, cursor: str | None) -> Page[ServerTool]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {SERVER_COLUMNS}, {TOOL_COLUMNS}
            from mcp_tools t join {_SERVERS} on s.id = t.mcp_server_id
            where t.user_id = %(user)s and (%(bot)s::uuid is null or t.bot_id = %(bot)s)
                and (%(after)s::timestamptz is null or (t.created_at, t.id) < (%(after)s, %(after_id)s))
            order by t.created_at desc, t.id desc limit %(limit)s
        """
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(as_server_tool))
        return cursors.page(rows, limit, lambda row: cursors.Position(row.tool.created_at, row.tool.id))

    def tool(self, user_id: UserId, tool_id: ToolId) -> ServerTool | None:
        statement: LiteralString = f"""
            select {SERVER_COLUMNS}, {TOOL_COLUMNS} from mcp_tools t join {_SERVERS} on s.id = t.mcp_server_id
            where t.id = %(id)s and t.user_id = %(user)s
        """
        parameters = {"id": tool_id, "user": user_id}
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(as_server_tool))
        return rows[0] if rows else None

    def tools_of(self, user_id: UserId, server_id: ToolServerId) -> Sequence[Tool]:
        statement: LiteralString = f"""
            select {TOOL_COLUMNS} from mcp_tools t join {_SERVERS} on s.id = t.mcp_server_id
            where t.mcp_server_id = %(server)s and t.user_id = %(user)s order by t.name
        """
        return self._database.fetch(user_id, statement, {"server": server_id, "user": user_id}, kwargs_row(as_tool))

    def save_tools(
        self, user_id: UserId, server_id: ToolServerId, tools: Sequence[Tool], vectors: Mapping[ToolId, Vector]
    ) -> None:
        owned: LiteralString = """
            select 1 from mcp_servers where id = %s and user_id = %s and deleted_at is null for update
        """
        with self._database.transaction(user_id) as connection:
            if connection.execute(owned, (server_id, user_id)).fetchone() is None:
                raise NotFound("There is no such tool server.", code="server_not_found", field="server_id")
            _save(connection, user_id, tools, vectors)

    def nearest(
        self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int
    ) -> Sequence[tuple[ServerTool, float]]:
        # A bot's tools are few (100 servers): every vector is compared, and only the best rows are read in full. The
        # vectors are of unit length, so the inner product (<#> is its negative) is the cosine, at half the work.
        statement: LiteralString = f"""
            with best as materialized (
                select t.id, 1 + (t.embedding <#> %(vector)s::halfvec(384)) as distance
                from mcp_tools t join mcp_servers s on s.id = t.mcp_server_id
                where {_CALLABLE}
                order by 2, 1 limit %(limit)s
            )
            select {SERVER_COLUMNS}, {TOOL_COLUMNS}, best.distance
            from best join mcp_tools t on t.id = best.id join {_SERVERS} on s.id = t.mcp_server_id
            order by best.distance, t.id
        """
        parameters = {"user": user_id, "bot": bot_id, "vector": literal(vector), "limit": limit}

        def scored(*, distance: float, **columns: object) -> tuple[ServerTool, float]:
            return as_server_tool(**columns), 1 - distance

        return self._database.fetch(user_id, statement, parameters, kwargs_row(scored))

    def nearest_to_any(
        self, user_id: UserId, bot_id: BotId, vectors: Sequence[Vector], *, limit: int
    ) -> Sequence[tuple[ServerTool, Sequence[float]]]:
        statement: LiteralString = f"""
            with asked as materialized (  -- each text is read once, not once for every tool
                select v.text::halfvec(384) as vector, v.place
                from unnest(%(vectors)s::text[]) with ordinality as v (text, place)
            ), best as materialized (
                select distinct near.id from asked cross join lateral (
                    select t.id from mcp_tools t join mcp_servers s on s.id = t.mcp_server_id
                    where {_CALLABLE} order by t.embedding <#> asked.vector, t.id limit %(limit)s
                ) as near
            )
            select {SERVER_COLUMNS}, {TOOL_COLUMNS},
                (select array_agg(1 + (t.embedding <#> asked.vector) order by place) from asked) as distances
            from best join mcp_tools t on t.id = best.id join {_SERVERS} on s.id = t.mcp_server_id
        """
        parameters = {"user": user_id, "bot": bot_id, "vectors": [literal(each) for each in vectors], "limit": limit}

        def scored(*, distances: Sequence[float], **columns: object) -> tuple[ServerTool, Sequence[float]]:
            return as_server_tool(**columns), [1 - distance for distance in distances]

        return self._database.fetch(user_id, statement, parameters, kwargs_row(scored))

    def callable_count(self, user_id: UserId, bot_id: BotId) -> int:
        statement: LiteralString = f"""
            select count(*) from mcp_tools t join {_SERVERS} on s.id = t.mcp_server_id where {_CALLABLE}
        """
        (number,) = self._database.fetch(user_id, statement, {"user": user_id, "bot": bot_id}, scalar_row)
        return int(number)

    def withheld(self, user_id: UserId, bot_id: BotId) -> Sequence[str]:
        statement: LiteralString = f"""
            select s.name from {_SERVERS}
            where s.bot_id = %(bot)s and s.user_id = %(user)s and s.deleted_at is null and s.is_active
                and s.health_status = 'open'
            order by s.name
        """
        return self._database.fetch(user_id, statement, {"user": user_id, "bot": bot_id}, scalar_row)


def _save(connection: Connection, user_id: UserId, tools: Sequence[Tool], vectors: Mapping[ToolId, Vector]) -> None:
    statement: LiteralString = """
        insert into mcp_tools as t (id, user_id, bot_id, mcp_server_id, name, description, schema, output_schema,
            header_parameters, digest, status, pending, embedding, created_at, updated_at)
        values (%(id)s, %(user)s, %(bot)s, %(server)s, %(name)s, %(description)s, %(schema)s, %(output_schema)s,
            %(header_parameters)s, %(digest)s, %(status)s, %(pending)s, %(embedding)s::halfvec(384), %(created)s, now())
        on conflict (id) do update set description = excluded.description, schema = excluded.schema,
            output_schema = excluded.output_schema, header_parameters = excluded.header_parameters,
            digest = excluded.digest, status = excluded.status, pending = excluded.pending,
            embedding = coalesce(excluded.embedding, t.embedding), updated_at = now()
        where t.user_id = excluded.user_id and t.mcp_server_id = excluded.mcp_server_id
    """
    with connection.cursor() as cursor:
        cursor.executemany(statement, [tool_parameters(user_id, tool, vectors.get(tool.id)) for tool in tools])


def _name_taken() -> Conflict:
    return Conflict(
        "The bot has a tool server of that name.", code="name_taken", field="name", next_step="Choose another name."
    )
