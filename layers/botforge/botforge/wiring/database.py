"""The connection to PostgreSQL."""

from botforge.adapters.postgres.database import Database
from botforge.settings import DatabaseSettings
from botforge.wiring.secret import reveal


def connect(settings: DatabaseSettings) -> Database:
    dsn = reveal(settings.database_url, settings.database_secret_arn)
    assert dsn is not None, "settings are validated"  # noqa: S101
    return Database(dsn, pooled=settings.database_pooled)
