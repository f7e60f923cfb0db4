"""The connection to PostgreSQL."""

from botforge.adapters.postgres.database import Database
from botforge.settings import DatabaseSettings
from botforge.wiring.secret import reveal

REQUEST_MS = 5_000  # a request may wait for several statements, and ends by 25 s
WORKER_MS = 60_000  # a worker writes thousands of rows at a time


def connect(settings: DatabaseSettings, *, statement_timeout_ms: int = REQUEST_MS) -> Database:
    dsn = reveal(settings.database_url, settings.database_secret_arn)
    assert dsn is not None, "settings are validated"  # noqa: S101
    return Database(dsn, pooled=settings.database_pooled, statement_timeout_ms=statement_timeout_ms)
