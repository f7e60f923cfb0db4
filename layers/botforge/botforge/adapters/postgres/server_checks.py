"""The tables ``mcp_servers`` and ``mcp_tools``, as the monitor sees them: across tenants, as the worker role."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import kwargs_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.health import servers_by_status
from botforge.adapters.postgres.tool_rows import (
    SERVER_COLUMNS,
    TOOL_COLUMNS,
    as_server,
    as_tool,
    health_parameters,
    tool_parameters,
)
from botforge.domain.tool import Dialect, ServerHealth, ServerStatus, Tool, ToolServer


class PostgresServerChecks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim_due(self, *, limit: int, not_since: timedelta) -> Sequence[ToolServer]:
        # skip locked: what another monitor is claiming at this moment is not waited for. Once it has committed, the
        # condition is looked at again on the new row, and no longer holds.
        statement: LiteralString = f"""
            with due as materialized (
                select s.id from mcp_servers s
                where s.is_active and s.deleted_at is null
                    and (s.claimed_at is null or s.claimed_at <= now() - %(age)s)
                    and exists (select from bots b where b.id = s.bot_id and b.deleted_at is null)
                order by s.checked_at nulls first, s.id limit %(limit)s
                for update of s skip locked
            )
            update mcp_servers s set claimed_at = now() from due where s.id = due.id
            returning {SERVER_COLUMNS}
        """
        with (
            self._database.transaction(None) as connection,
            connection.cursor(row_factory=kwargs_row(as_server)) as rows,
        ):
            claimed = rows.execute(statement, {"limit": limit, "age": not_since}).fetchall()
        return sorted(claimed, key=_oldest_check_first)

    def save_check(
        self, server: ToolServer, health: ServerHealth, changed: Sequence[Tool], dialect: Dialect | None
    ) -> None:
        # Both conditions keep what an owner did in the meantime: a new address, a tool that was accepted.
        health_of: LiteralString = """
            update mcp_servers set health_status = %(health)s, latency_ms = %(latency)s, dialect = %(dialect)s,
                consecutive_failures = %(failures)s, checked_at = %(checked)s, error_code = %(error)s
            where id = %(id)s and endpoint_url = %(endpoint)s and deleted_at is null
        """
        tool: LiteralString = """
            insert into mcp_tools as t (id, user_id, bot_id, mcp_server_id, name, description, schema, output_schema,
                header_parameters, digest, status, pending, created_at, updated_at)
            values (%(id)s, %(user)s, %(bot)s, %(server)s, %(name)s, %(description)s, %(schema)s, %(output_schema)s,
                %(header_parameters)s, %(digest)s, %(status)s, %(pending)s, %(created)s, now())
            on conflict (mcp_server_id, name) do update set description = excluded.description,
                schema = excluded.schema, output_schema = excluded.output_schema,
                header_parameters = excluded.header_parameters, digest = excluded.digest, status = excluded.status,
                pending = excluded.pending, updated_at = now()
            where t.id = excluded.id and t.updated_at = %(read_at)s
        """
        parameters = {
            "id": server.id,
            "endpoint": server.endpoint_url,
            "dialect": dialect,
            **health_parameters(health),
        }
        with self._database.transaction(None) as connection, connection.cursor() as cursor:
            if cursor.execute(health_of, parameters).rowcount and changed:
                cursor.executemany(tool, [tool_parameters(server.user_id, each, None) for each in changed])

    def tools_of(self, server: ToolServer) -> Sequence[Tool]:
        statement: LiteralString = f"""
            select {TOOL_COLUMNS} from mcp_tools t where t.mcp_server_id = %(server)s order by t.name
        """
        return self._database.fetch(None, statement, {"server": server.id}, kwargs_row(as_tool))

    def health(self) -> Mapping[ServerStatus, int]:
        return servers_by_status(self._database)


def _oldest_check_first(server: ToolServer) -> float:
    checked = server.health.checked_at
    return 0.0 if checked is None else checked.timestamp()
