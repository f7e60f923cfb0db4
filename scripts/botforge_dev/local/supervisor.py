"""Puts the local stack together, keeps it running, and takes it down without leaving anything behind."""

import json
import os
import secrets
import shutil
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
from botforge_dev.local.aws import BUCKET, CREDENTIALS, REGION, LocalAws
from botforge_dev.local.environments import Function, FunctionSpec
from botforge_dev.local.gateway import Gateway
from botforge_dev.local.postgres import Postgres
from botforge_dev.local.routes import routes_of
from botforge_dev.local.sources import QueuePoller, Schedule, in_thread, seconds_of
from botforge_dev.local.tokens import TokenIssuer
from botforge_dev.model.weights import MODEL_DIR, ensure_weights
from botforge_dev.template import Template

ROOT = Path(__file__).resolve().parents[3]
DATABASE = "botforge"
# Taken over from the shell that serves, where a function declares them.
_FROM_SHELL = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_ALLOWED_MODELS", "REDIS_URL")
_FROM_SHELL_TOO = ("VECTOR_BACKEND", "PINECONE_API_KEY", "PINECONE_HOST", "LOG_LEVEL", "EMBEDDING_BACKEND")
_SIZES = {"query": 2, "documents": 2}
_ROLES = {"monitor": "worker"}
_THREADS = 32


class StackError(Exception):
    """The stack cannot start; the message is for the user."""


@dataclass(slots=True)
class LocalStack:
    """``with LocalStack(folder, port, report) as stack: stack.serve()``."""

    folder: Path
    port: int
    report: Callable[[str], None]
    description: dict[str, Any] = field(default_factory=dict[str, Any], init=False)
    _closing: ExitStack = field(default_factory=ExitStack, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _server: uvicorn.Server | None = field(default=None, init=False)
    _gateway: threading.Thread | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        if not processes.is_free(self.port):
            raise StackError(f"Port {self.port} is in use. Choose another one with --port.")
        try:
            self._start()
        except BaseException:
            self._closing.close()
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
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "logs").mkdir(exist_ok=True)
        template = Template(ROOT / "template.yaml")
        self.report("embedding model")
        ensure_weights()
        self.report("PostgreSQL")
        dsns = self._start_postgres()
        self.report("S3 and SQS")
        aws = LocalAws(self.folder / "objects", self._port("aws"), template, self.folder / "logs" / "moto.log")
        self._closing.callback(aws.stop)
        aws.start()
        self.report("functions")
        functions = self._functions(template, dsns, aws)
        self._start_sources(template, functions, aws)
        issuer = TokenIssuer.in_folder(self.folder)
        self._start_gateway(template, functions, issuer)
        self.report("demo bot")
        self._describe(issuer, aws, dsns)

    def _start_postgres(self) -> Mapping[str, str]:
        """Role → DSN. An owner's DSN in DATABASE_URL replaces the embedded server."""
        owner = os.environ.get("DATABASE_URL")
        if not owner:
            postgres = Postgres(self.folder / "postgres", self._port("postgres"))
            self._closing.callback(postgres.stop)
            postgres.start()
            postgres.create_database(DATABASE)
            owner = postgres.dsn(DATABASE)
        migrate(owner)
        return {"owner": owner, **{role: self._login(owner, role) for role in ("tenant", "worker")}}

    def _login(self, owner: str, role: str) -> str:
        """A user that is a member of the runtime role, with a password of its own."""
        user = f"local_{role}"
        password = self._secret(f"{role}.password")
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
        for logical_id, properties in template.functions().items():
            name = Path(properties["CodeUri"]).name
            dsn = dsns[_ROLES.get(name, "tenant")]
            spec = FunctionSpec(
                name=name,
                folder=ROOT / properties["CodeUri"],
                handler=properties["Handler"],
                timeout_s=float(properties["Timeout"]),
                memory_mb=int(properties["MemorySize"]),
                variables=_variables(properties["Environment"]["Variables"], dsn, aws.endpoint),
                size=_SIZES.get(name, 1),
            )
            function = Function(spec, self.folder / "logs" / f"{name}.log")
            self._closing.callback(function.close)
            functions[logical_id] = function
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(Function.warm, functions.values()))
        return functions

    def _start_sources(self, template: Template, functions: Mapping[str, Function], aws: LocalAws) -> None:
        threads: list[threading.Thread] = []
        for logical_id, properties in template.functions().items():
            for name, event in properties.get("Events", {}).items():
                declared = event["Properties"]
                function = functions[logical_id]
                if event["Type"] == "SQS":
                    poller = QueuePoller(aws, function, int(declared["BatchSize"]), self._stopping)
                    threads.append(in_thread(poller.run, name))
                elif event["Type"] in {"Schedule", "ScheduleV2"}:
                    expression = declared.get("Schedule") or declared["ScheduleExpression"]
                    schedule = Schedule(function, seconds_of(expression), name, self._stopping)
                    threads.append(in_thread(schedule.run, name))
        self._closing.callback(self._stopping.set)

    def _start_gateway(self, template: Template, functions: Mapping[str, Function], issuer: TokenIssuer) -> None:
        pool = ThreadPoolExecutor(max_workers=_THREADS)
        self._closing.callback(pool.shutdown, wait=False, cancel_futures=True)
        app = Gateway(routes_of(template), functions, issuer, pool).app()
        config = uvicorn.Config(
            app, host="127.0.0.1", port=self.port, log_level="warning", lifespan="off", timeout_graceful_shutdown=2
        )
        self._server = server = uvicorn.Server(config)
        self._gateway = thread = in_thread(server.run, "gateway")
        self._closing.callback(thread.join, 5)
        self._closing.callback(self.stop)
        while not server.started:
            if not thread.is_alive():
                raise StackError(f"Port {self.port} could not be opened. Choose another one with --port.")
            thread.join(0.02)

    def _describe(self, issuer: TokenIssuer, aws: LocalAws, dsns: Mapping[str, str]) -> None:
        """Write ``local.json``; its user and demo bot stay the same from run to run."""
        file = self.folder / "local.json"
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
                raise StackError(f"The API answers {created.status_code}: {created.text}. See {self.folder / 'logs'}.")
            return str(created.json()["id"])

    def _port(self, name: str) -> int:
        """A free port, the same as last time if it still is."""
        file = self.folder / f"{name}.port"
        known = int(file.read_text(encoding="ascii")) if file.exists() else 0
        port = known if known and processes.is_free(known) else processes.free_port()
        file.write_text(str(port), encoding="ascii")
        return port

    def _secret(self, name: str) -> str:
        file = self.folder / name
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(24), encoding="ascii")
        return file.read_text(encoding="ascii")


def reset(folder: Path) -> None:
    """Remove all that earlier runs kept. Raises StackError for a folder that is not ours."""
    if not folder.exists():
        return
    if not (folder / "issuer.pem").exists() and any(folder.iterdir()):
        raise StackError(f"{folder} does not look like a data folder of BotForge; it is left alone.")
    Postgres(folder / "postgres", 0).stop()
    shutil.rmtree(folder)


def _variables(declared: Mapping[str, Any], dsn: str, endpoint: str) -> dict[str, str]:
    """The function's environment: every variable that the template declares for it, and only those.

    A value that the template states is taken as it is; one that it computes has its local counterpart.
    """
    local = {
        **CREDENTIALS,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": REGION,
        "BUCKET": BUCKET,
        "DATABASE_URL": dsn,
        "EMBEDDING_MODEL_DIR": str(MODEL_DIR),
        **{name: os.environ[name] for name in (*_FROM_SHELL, *_FROM_SHELL_TOO) if os.environ.get(name)},
    }
    given = {name: value for name, value in declared.items() if isinstance(value, str)}
    chosen = {name: local[name] for name in declared if name in local}
    return {**given, **chosen, **CREDENTIALS, "AWS_REGION": REGION}
