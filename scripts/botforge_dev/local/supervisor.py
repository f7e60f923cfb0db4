"""Puts the local stack together, keeps it running, and takes it down without leaving anything behind."""

import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from uuid import UUID, uuid4

import httpx
import psycopg
import uvicorn
from psycopg import sql
from psycopg.conninfo import make_conninfo

from botforge.adapters.postgres.migrate import migrate
from botforge_dev.local import processes
from botforge_dev.local.aws import BUCKET, REGION, LocalAws
from botforge_dev.local.data_folder import DataFolder
from botforge_dev.local.environments import Function
from botforge_dev.local.gateway import Gateway, server_of
from botforge_dev.local.postgres import Postgres
from botforge_dev.local.routes import routes_of
from botforge_dev.local.sources import QueuePoller, Schedule, in_thread, seconds_of
from botforge_dev.local.specs import specs_of
from botforge_dev.local.tokens import TokenIssuer
from botforge_dev.model.weights import ensure_weights
from botforge_dev.template import Template

ROOT = Path(__file__).resolve().parents[3]
DATABASE = "botforge"
_THREADS = 32


class StackError(Exception):
    """The stack cannot start; the message is for the user."""


@dataclass(slots=True)
class LocalStack:
    """``with LocalStack(folder, port, report) as stack: stack.serve()``."""

    folder: Path
    port: int
    report: Callable[[str], None]
    fresh: bool = False  # forget what earlier runs kept
    description: dict[str, Any] = field(default_factory=dict[str, Any], init=False)
    _data: DataFolder = field(init=False)
    _closing: ExitStack = field(default_factory=ExitStack, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _server: uvicorn.Server | None = field(default=None, init=False)
    _gateway: threading.Thread | None = field(default=None, init=False)
    _sources: list[threading.Thread] = field(default_factory=list[threading.Thread], init=False)

    def __post_init__(self) -> None:
        self._data = DataFolder(self.folder)

    def __enter__(self) -> Self:
        """Raises StackError, FolderError, AwsError, PostgresError or WeightsError; then nothing is left behind."""
        if not processes.is_free(self.port):
            raise StackError(f"Port {self.port} is in use. Choose another one with --port.")
        try:
            self._data.acquire()
            self._closing.callback(self._data.release)
            if self.fresh:
                self._data.clear()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        self._closing.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True

    def wait(self) -> None:
        """Serve until ``stop`` is called."""
        if self._gateway is not None:
            self._gateway.join()

    def _start(self) -> None:
        template = Template(ROOT / "template.yaml")
        self.report("embedding model")
        ensure_weights()
        self.report("PostgreSQL")
        dsns = self._start_postgres()
        self.report("S3 and SQS")
        aws = LocalAws(self._data.path / "aws", self._data.port("aws"), template, self._data.log("aws"))
        self._closing.callback(aws.stop)
        aws.start()
        watching = in_thread(lambda: aws.keep_running(self._stopping), "aws")
        self._closing.callback(watching.join, 10)
        self.report("functions")
        self._closing.callback(self._join_sources)  # once the functions that they wait for are gone
        functions = self._functions(template, dsns, aws)
        self._start_sources(template, functions, aws)
        issuer = TokenIssuer.in_folder(self._data.path)
        self._start_gateway(template, functions, issuer)
        self.report("demo bot")
        self._describe(issuer, aws, dsns)

    def _start_postgres(self) -> Mapping[str, str]:
        """Role → DSN. An owner's DSN in DATABASE_URL replaces the embedded server."""
        owner = os.environ.get("DATABASE_URL")
        if not owner:
            postgres = Postgres(self._data.path / "postgres", self._data.port("postgres"))
            self._closing.callback(postgres.stop)
            postgres.start()
            postgres.create_database(DATABASE)
            owner = postgres.dsn(DATABASE)
        migrate(owner)
        return {"owner": owner, **{role: self._login(owner, role) for role in ("tenant", "worker")}}

    def _login(self, owner: str, role: str) -> str:
        """A user that is a member of the runtime role, with a password of its own."""
        user = f"local_{role}"
        password = self._data.secret(f"{role}.password")
        with psycopg.connect(owner, autocommit=True) as connection:
            exists = connection.execute("select 1 from pg_roles where rolname = %s", (user,)).fetchone()
            verb = "alter" if exists else "create"
            statement = "{} role {} login password {}"
            connection.execute(sql.SQL(statement).format(sql.SQL(verb), sql.Identifier(user), sql.Literal(password)))
            connection.execute(
                sql.SQL("grant {} to {}").format(sql.Identifier(f"botforge_{role}"), sql.Identifier(user))
            )
        return make_conninfo(owner, user=user, password=password)

    def _functions(self, template: Template, dsns: Mapping[str, str], aws: LocalAws) -> dict[str, Function]:
        functions: dict[str, Function] = {}
        key = self._data.path / "tool-credentials.key"
        for logical_id, spec in specs_of(template, ROOT, dsns, aws, key).items():
            functions[logical_id] = function = Function(spec, self._data.log(spec.name))
            self._closing.callback(function.close)
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(Function.warm, functions.values()))
        return functions

    def _start_sources(self, template: Template, functions: Mapping[str, Function], aws: LocalAws) -> None:
        for logical_id, properties in template.functions().items():
            for name, event in properties.get("Events", {}).items():
                declared = event["Properties"]
                function = functions[logical_id]
                if event["Type"] == "SQS":
                    poller = QueuePoller(aws, function, int(declared["BatchSize"]), self._stopping)
                    self._sources += [in_thread(poller.run, name) for _ in range(function.spec.size)]
                elif event["Type"] in {"Schedule", "ScheduleV2"}:
                    expression = declared.get("Schedule") or declared["ScheduleExpression"]
                    schedule = Schedule(function, seconds_of(expression), name, self._stopping)
                    self._sources.append(in_thread(schedule.run, name))

    def _join_sources(self) -> None:
        for thread in self._sources:
            thread.join(10)

    def _start_gateway(self, template: Template, functions: Mapping[str, Function], issuer: TokenIssuer) -> None:
        pool = ThreadPoolExecutor(max_workers=_THREADS)
        self._closing.callback(pool.shutdown, wait=False, cancel_futures=True)
        app = Gateway(routes_of(template), functions, issuer, pool)
        self._server = server = server_of(app, self.port)
        self._gateway = thread = in_thread(server.run, "gateway")
        self._closing.callback(thread.join, 5)
        self._closing.callback(self.stop)
        while not server.started:
            if not thread.is_alive():
                raise StackError(f"Port {self.port} could not be opened. Choose another one with --port.")
            thread.join(0.02)

    def _describe(self, issuer: TokenIssuer, aws: LocalAws, dsns: Mapping[str, str]) -> None:
        """Write ``local.json``; its user and demo bot stay the same from run to run."""
        file = self._data.path / "local.json"
        before: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        user = UUID(before["user"]) if "user" in before else uuid4()
        token = issuer.mint(user)
        self.description = {
            "url": self.url,
            "token": token,
            "user": str(user),
            "bot": self._demo_bot(token, before.get("bot")),
            "bucket": BUCKET,
            "region": REGION,
            "endpoints": {"s3": aws.endpoint, "sqs": aws.endpoint, "queue": aws.queue_url, "dlq": aws.dead_letters_url},
            "database": dsns["owner"],
        }
        file.touch(mode=0o600)
        partial = file.with_name("local.json.partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(self.description, indent=2) + "\n", encoding="utf-8")
        partial.replace(file)

    def _demo_bot(self, token: str, known: str | None) -> str:
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=35, trust_env=False) as client:
            if known and client.get(f"/api/bots/{known}").status_code == HTTPStatus.OK:
                return known
            created = client.post("/api/bots", json={"name": "Demo", "description": "Made by scripts/serve."})
            if created.status_code != HTTPStatus.CREATED:
                raise StackError(
                    f"The API answers {created.status_code}: {created.text}. See {self._data.path / 'logs'}."
                )
            return str(created.json()["id"])
