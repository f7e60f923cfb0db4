"""Whether the database answers, with the schema that this code expects."""

from collections.abc import Mapping
from typing import LiteralString

from psycopg.rows import scalar_row, tuple_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.migrate import available
from botforge.domain.errors import DatabaseUnavailable
from botforge.domain.tool import ServerStatus


class PostgresHealth:
    def __init__(self, database: Database) -> None:
        self._database = database

    def ping(self) -> None:
        statement: LiteralString = "select coalesce(max(version), 0) from schema_migrations"
        version = self._database.fetch(None, statement, {}, scalar_row)[0]
        expected = max(available())
        if version < expected:
            raise DatabaseUnavailable(
                f"The database's schema is at version {version}; this code needs {expected}.",
                code="schema_outdated",
                next_step="Run scripts/migrate against the database.",
            )

    def tool_servers(self) -> Mapping[ServerStatus, int]:
        """How many active tool servers are in which state, over all tenants."""
        return servers_by_status(self._database)


def servers_by_status(database: Database) -> Mapping[ServerStatus, int]:
    """Every status, those that no server has included."""
    statement: LiteralString = "select health_status, servers from tool_servers_by_status()"
    counted = {ServerStatus(status): int(servers) for status, servers in database.fetch(None, statement, {}, tuple_row)}
    return {status: counted.get(status, 0) for status in ServerStatus}
