"""The real handlers of ``functions/*``, wired to a real PostgreSQL and S3 over HTTP, fed with the gateway's events."""

import base64
import gc
import importlib.util
import io
import json
import logging
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from tests.conftest import ROOT, TestDatabase
from tests.fakes.s3_server import new_bucket, s3_server

from botforge.adapters.postgres.database import Database
from botforge.adapters.storage.s3 import s3_client
from botforge.telemetry import logger

_FUNCTIONS = {"vector": "query", "upload": "documents", "api": "registry", "health": "health"}


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """What the runtime passes to a handler beside the event."""

    function_name: str
    aws_request_id: str = "invocation-1"
    memory_limit_in_mb: int = 1769
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:test"
    remaining_ms: int = 29_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON
        return json.loads(self.body)


@dataclass(slots=True)
class Api:
    """Calls handlers as API Gateway does, as one user."""

    bucket: str
    s3: Any
    user: UUID = field(default_factory=uuid4)
    handlers: dict[str, Any] = field(default_factory=dict[str, Any])

    def handler(self, function: str) -> Any:  # noqa: ANN401 - a handler
        if function not in self.handlers:
            self.handlers[function] = _load(ROOT / "functions" / function / "app.py").handler
        return self.handlers[function]

    def call(
        self,
        method: str,
        path: str,
        *,
        json_body: Any = None,  # noqa: ANN401 - any JSON
        body: str | bytes | None = None,
        content_type: str = "application/json",
        user: UUID | None = None,
        **overrides: Any,  # noqa: ANN401 - members of the event
    ) -> Reply:
        event = gateway_event(method, path, user or self.user, content_type)
        if json_body is not None:
            body = json.dumps(json_body)
        if isinstance(body, bytes):
            event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
        elif body is not None:
            event["body"] = body
        function = _FUNCTIONS[path.split("/")[1]]
        return self.invoke(function, event | overrides)

    def invoke(self, function: str, event: Any) -> Reply:  # noqa: ANN401 - whatever invokes a function
        reply = self.handler(function)(event, LambdaContext(function))
        return Reply(reply["statusCode"], reply["headers"], reply.get("body", ""))

    def create_bot(self, **fields: Any) -> str:  # noqa: ANN401 - fields of the body
        reply = self.call("POST", "/api/bots", json_body={"name": "Bot", **fields})
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def upload(self, bot: str, name: str, content: bytes, content_type: str = "text/plain") -> Reply:
        body, media_type = multipart({"bot_id": bot}, name, content, content_type)
        return self.call("POST", "/upload/documents", body=body, content_type=media_type)

    def ingest(self, bot: str, name: str, receives: int = 1, **record: Any) -> dict[str, Any]:  # noqa: ANN401
        """Deliver the S3 event of a key to the ingestion function."""
        notification = s3_event(self.bucket, f"{self.user}/{bot}/{name}", **record)
        return self.deliver(json.dumps(notification), receives=receives)

    def deliver(self, *bodies: str, receives: int = 1) -> dict[str, Any]:
        records = [
            {
                "messageId": str(number),
                "receiptHandle": str(number),
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(receives)},
            }
            for number, body in enumerate(bodies)
        ]
        return self.handler("ingestion")({"Records": records}, LambdaContext("ingestion"))

    def ask(self, bot: str, query: str, **fields: Any) -> Reply:  # noqa: ANN401 - fields of the body
        body = {"user_id": str(self.user), "bot_id": bot, "client_id": "test", "query": query, **fields}
        return self.call("POST", "/vector/query", json_body=body)

    def register_server(self, bot: str, url: str, **fields: Any) -> Reply:  # noqa: ANN401 - fields of the body
        body = {"bot_id": bot, "name": "server", "endpoint_url": url, "description": "Tools.", **fields}
        return self.call("POST", "/api/mcp/register", json_body=body)

    def restart(self) -> None:
        """End every execution environment: the next call starts new ones, with the variables as they are then."""
        _end_of_environment(self)

    def documents(self, bot: str) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/upload/documents/{bot}").json["items"])


def gateway_event(method: str, path: str, user: UUID, content_type: str) -> dict[str, Any]:
    raw_path, _, query = path.partition("?")
    return {
        "version": "2.0",
        "routeKey": f"{method} {raw_path}",
        "rawPath": raw_path,
        "rawQueryString": query,
        "headers": {"host": "api.example.com", "content-type": content_type, "x-forwarded-port": "443"},
        "requestContext": {
            "http": {"method": method, "path": raw_path, "sourceIp": "203.0.113.1"},
            "requestId": "request-1",
            "stage": "$default",
            "authorizer": {"jwt": {"claims": {"sub": str(user)}, "scopes": None}},
        },
        "isBase64Encoded": False,
    }


def s3_event(
    bucket: str, key: str, *, event: str = "ObjectCreated:Put", sequencer: str | None = None
) -> dict[str, Any]:
    """In the shape that S3 sends; the key is encoded as S3 encodes it."""
    from urllib.parse import quote_plus

    described: dict[str, Any] = {"key": quote_plus(key, safe="/"), "size": 1, "eTag": "e", "versionId": "v"}
    if sequencer is not None:
        described["sequencer"] = sequencer
    record = {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventTime": "2026-12-01T00:00:00.000Z",
        "eventName": event,
        "responseElements": {"x-amz-request-id": "S3REQUEST"},
        "s3": {"s3SchemaVersion": "1.0", "bucket": {"name": bucket}, "object": described},
    }
    return {"Records": [record]}


def multipart(fields: dict[str, str], name: str, content: bytes, content_type: str) -> tuple[bytes, str]:
    boundary = "boundary-of-tests"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field_name}"\r\n\r\n{value}\r\n'.encode()
        for field_name, value in fields.items()
    ]
    quoted = name.replace('"', "%22")
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
    parts.append(f"{head}Content-Type: {content_type}\r\n\r\n".encode() + content + b"\r\n")
    return b"".join([*parts, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"


@pytest.fixture
def logged() -> Generator[io.StringIO]:
    """All that is logged. The logger keeps the stream that it found at import, so pytest's own capture misses it."""
    handler = cast("logging.StreamHandler[Any]", logger.registered_handler)
    stream = io.StringIO()
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before or sys.stdout)


@pytest.fixture(scope="session")
def s3_url() -> Generator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def api(
    database: TestDatabase, s3_url: str, model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Api]:
    bucket = f"bucket-{uuid4()}"
    environment = {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3_url,
        "BUCKET": bucket,
        "DATABASE_URL": database.tenant,
        "EGRESS_ALLOW_LOOPBACK": "true",
        "EMBEDDING_MODEL_DIR": str(model_dir),
        "POWERTOOLS_METRICS_NAMESPACE": "BotForge",
        "POWERTOOLS_SERVICE_NAME": "test",
        "TOOL_CREDENTIALS_KEY_FILE": str(tmp_path / "tool-credentials.key"),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    s3 = s3_client(endpoint=s3_url, region="us-east-1")
    new_bucket(s3, bucket, versioned=False)
    api = Api(bucket, s3)
    yield api
    _end_of_environment(api)


def _end_of_environment(api: Api) -> None:
    """What the end of a process does: many environments in one would leave their connections and models behind."""
    for found in gc.get_objects():
        kind = cast("type[object]", type(found))  # isinstance would ask a weak proxy whose object is gone
        if issubclass(kind, Database):
            found.close()
        elif kind is _lru_cache_wrapper and (found.__module__ or "").startswith("fastapi."):
            found.cache_clear()  # FastAPI remembers every endpoint, and with it all that the endpoint refers to
    api.handlers.clear()
    gc.collect()


def _load(path: Path) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location(f"function_{path.parent.name}_{uuid4().hex}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
