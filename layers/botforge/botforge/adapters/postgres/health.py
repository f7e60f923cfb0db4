"""Whether the database answers, with the schema that this code expects."""

from typing import LiteralString

from psycopg.rows import scalar_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.migrate import available
from botforge.domain.errors import DatabaseUnavailable


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
