"""The real parts that tests run against: PostgreSQL from a wheel, started once for each test process."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.migrate import migrate
from botforge_dev.local import processes
from botforge_dev.local.postgres import Postgres

ROOT = Path(__file__).resolve().parents[1]
_TEMPLATE = "template_of_tests"
_PASSWORD = "only-for-tests"


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """A migrated database of its own, with a login for each runtime role."""

    __test__ = False

    owner: str
    tenant: str
    worker: str


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = tmp_path_factory.mktemp("postgres")
    server = Postgres(folder / "cluster", processes.free_port(), throwaway=True)
    server.start()
    try:
        server.create_database(_TEMPLATE)
        migrate(server.dsn(_TEMPLATE))
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            for role in ("tenant", "worker"):
                statement = "create role {} login password {} in role {}"
                names = (sql.Identifier(f"test_{role}"), sql.Literal(_PASSWORD), sql.Identifier(f"botforge_{role}"))
                connection.execute(sql.SQL(statement).format(*names))
        yield server
    finally:
        server.destroy()


@pytest.fixture
def database(postgres: Postgres) -> Iterator[TestDatabase]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        statement = sql.SQL("create database {} template {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(_TEMPLATE)))
    yield TestDatabase(
        owner=postgres.dsn(name),
        tenant=postgres.dsn(name, "test_tenant", _PASSWORD),
        worker=postgres.dsn(name, "test_worker", _PASSWORD),
    )
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def tenant(database: TestDatabase) -> Iterator[Database]:
    """The database as the functions of a tenant see it."""
    connected = Database(database.tenant)
    yield connected
    connected.close()


@pytest.fixture
def worker(database: TestDatabase) -> Iterator[Database]:
    """The database as the monitor sees it."""
    connected = Database(database.worker)
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Public data for evaluation, which the repository does not carry."""
    folder = Path(os.environ.get("BOTFORGE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no evaluation data at {folder}; set BOTFORGE_DATA to try it")
    return folder


@pytest.fixture(scope="session")
def model_dir() -> Path:
    from botforge_dev.model.weights import MODEL_DIR, ensure_weights

    ensure_weights()
    return MODEL_DIR
