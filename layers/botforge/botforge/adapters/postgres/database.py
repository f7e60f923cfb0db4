"""One connection for one execution environment: opened when first needed, checked before use, scoped to a tenant."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import RowFactory, tuple_row

from botforge.domain.errors import DatabaseUnavailable, DeadlineExceeded
from botforge.domain.ids import UserId

Row = TypeVar("Row")
Waited = TypeVar("Waited")
Connection = psycopg.Connection[tuple[Any, ...]]

_GRACE_S = 1.0  # beyond the statement timeout, within which the server says so itself
_CONNECT_TIMEOUT_S = 5
_SETTINGS: LiteralString = (
    "select set_config(name, value, true) from unnest(%s::text[], %s::text[]) as setting (name, value)"
)
_SCOPE: LiteralString = "select set_config('botforge.user_id', %s, true), set_config('statement_timeout', %s, true)"


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """Gives up on a server that has stopped answering: the server's own statement timeout is then no help."""

    patience_s: float = 60

    def wait(self, gen: PQGen[Waited], interval: float = 0.1, timeout: float | None = None) -> Waited:
        try:
            return super().wait(gen, interval, self.patience_s if timeout is None else timeout)
        except psycopg.errors._WaitTimeout as error:  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
            self.pgconn.finish()
            raise DeadlineExceeded("The database does not answer in time.") from error


class Database:
    """A lazily opened connection as a runtime role.

    A Lambda environment serves one request at a time, so one connection is all it needs; a lock keeps the threads
    of a test or a fan-out apart. A freeze between two invocations can kill the socket without a word: the first
    round trip of every transaction (``begin`` and the tenant's scope) doubles as the check, and only that is tried
    again on a fresh connection.

    ``pooled``: a transaction pooler (PgBouncer, RDS Proxy) sits in between; prepared statements are then off.
    """

    def __init__(self, dsn: str, *, pooled: bool = False, statement_timeout_ms: int = 5_000) -> None:
        self._dsn = dsn
        self._prepare_threshold = None if pooled else 5
        self._statement_timeout = str(statement_timeout_ms)
        self._patience_s = statement_timeout_ms / 1000 + _GRACE_S
        self._connection: _Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def transaction(self, user_id: UserId | None) -> Generator[Connection]:
        """A transaction that sees ``user_id``'s rows only (None: those of no tenant, unless the role sees all).

        Raises DatabaseUnavailable when the server does not answer, DeadlineExceeded when it takes longer than the
        statement timeout. On any error nothing was committed, except when the connection broke during the commit.
        """
        with self._lock, _translated(), self._begin(user_id) as connection:
            yield connection

    def fetch(
        self,
        user_id: UserId | None,
        statement: LiteralString,
        parameters: Mapping[str, object],
        row: RowFactory[Row],
        *,
        settings: Mapping[LiteralString, str] | None = None,
    ) -> list[Row]:
        """Run one reading statement in its own transaction, in a single round trip.

        ``settings`` are set for this transaction alone. Reading twice is harmless, so a dead connection is replaced
        and the whole repeated once. Errors as for ``transaction``.
        """
        with self._lock, _translated():
            try:
                return self._fetch(user_id, statement, parameters, row, settings or {})
            except psycopg.OperationalError:
                if self._connection is not None and not self._connection.broken:
                    raise  # the server answered: it was not the connection
                return self._fetch(user_id, statement, parameters, row, settings or {})

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _fetch(
        self,
        user_id: UserId | None,
        statement: LiteralString,
        parameters: Mapping[str, object],
        row: RowFactory[Row],
        settings: Mapping[LiteralString, str],
    ) -> list[Row]:
        connection = self._open()
        cursor = connection.cursor(row_factory=row)
        # What a pipeline sends before its sync is one implicit transaction (PostgreSQL, "Pipeline Mode"): the local
        # settings hold for the statement, and an error leaves nothing to roll back.
        with connection.pipeline():
            connection.execute(_SCOPE, (_text(user_id), self._statement_timeout))
            if settings:
                names, values = list(settings), list(settings.values())
                connection.execute(_SETTINGS, (names, values))
            cursor.execute(statement, parameters)
        return cursor.fetchall()

    @contextmanager
    def _begin(self, user_id: UserId | None) -> Generator[Connection]:
        connection = self._scoped(user_id)
        try:
            yield connection
        except BaseException:
            if not connection.broken:
                connection.rollback()
            raise
        connection.commit()

    def _scoped(self, user_id: UserId | None) -> Connection:
        for last in (False, True):
            connection = self._open()
            try:
                with connection.pipeline():
                    connection.execute("begin")
                    connection.execute(_SCOPE, (_text(user_id), self._statement_timeout))
            except psycopg.OperationalError:
                if last or not connection.broken:
                    raise
            else:
                return connection
        raise AssertionError("unreachable")

    def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = connection = _Connection.connect(
                self._dsn,
                autocommit=True,
                prepare_threshold=self._prepare_threshold,
                connect_timeout=_CONNECT_TIMEOUT_S,
                tcp_user_timeout=_CONNECT_TIMEOUT_S * 1000,  # unacknowledged data: the peer is gone
                row_factory=tuple_row,
                application_name="botforge",
            )
            connection.patience_s = self._patience_s
        return self._connection


def _text(user_id: UserId | None) -> str:
    return "" if user_id is None else str(user_id)


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise DeadlineExceeded("The database took longer than the request may take.") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseUnavailable("The database does not answer.") from error
