"""What is deployed, built here, with the parts that it talks to."""

import platform
import subprocess
import sys
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import psycopg
import pytest
from psycopg import sql
from tests.fakes.s3_server import new_bucket, s3_server

from botforge.adapters.postgres.migrate import migrate
from botforge_dev.build.layout import Architecture
from botforge_dev.local import processes
from botforge_dev.local.postgres import Postgres

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class Backing:
    """Real servers on loopback: PostgreSQL with the schema and its two roles, and a bucket."""

    tenant_dsn: str
    worker_dsn: str
    bucket: str
    s3_endpoint: str
    ports: tuple[int, ...]

    def s3(self) -> "S3Client":
        return boto3.client(  # pyright: ignore[reportUnknownMemberType]
            "s3",
            endpoint_url=self.s3_endpoint,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Architecture], Path]:
    """`scripts/build` for an architecture, once a session; gives the folder that `sam build` wrote."""
    built: dict[Architecture, Path] = {}

    def once(architecture: Architecture) -> Path:
        if architecture not in built:
            output = tmp_path_factory.mktemp("build") / architecture.value
            command = [sys.executable, "-m", "botforge_dev.build", "--arch", architecture.value, "--output", output]
            done = subprocess.run(  # noqa: S603
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            assert done.returncode == 0, done.stdout
            built[architecture] = output
        return built[architecture]

    return once


@pytest.fixture(scope="session")
def own_architecture() -> Architecture:
    """This machine's."""
    return Architecture.ARM64 if platform.machine() in {"aarch64", "arm64"} else Architecture.X86_64


@pytest.fixture(scope="session")
def backing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Backing]:
    postgres = Postgres(tmp_path_factory.mktemp("postgres"), processes.free_port())
    postgres.start()
    try:
        postgres.create_database("botforge")
        migrate(postgres.dsn("botforge"))
        with s3_server() as endpoint:
            backing = Backing(
                tenant_dsn=_login(postgres, "tenant"),
                worker_dsn=_login(postgres, "worker"),
                bucket=f"documents-{uuid.uuid4()}",
                s3_endpoint=endpoint,
                ports=(postgres.port, int(endpoint.rpartition(":")[2])),
            )
            new_bucket(backing.s3(), backing.bucket, versioned=True)
            yield backing
    finally:
        postgres.destroy()


def _login(postgres: Postgres, role: str) -> str:
    user, password = f"e2e_{role}", uuid.uuid4().hex
    with psycopg.connect(postgres.dsn("botforge"), autocommit=True) as connection:
        create = sql.SQL("create role {} login password {} in role {}")
        connection.execute(
            create.format(sql.Identifier(user), sql.Literal(password), sql.Identifier(f"botforge_{role}"))
        )
    return postgres.dsn("botforge", user=user, password=password)
