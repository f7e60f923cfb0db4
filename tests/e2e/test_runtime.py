"""Every handler as it runs in the cloud: the built artefact, the real runtime client, and nothing else to lean on."""

import base64
import json
import sys
import uuid
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Backing

from botforge_dev.build.layout import ROOT, Architecture
from botforge_dev.local.runtime_api import FunctionError
from botforge_dev.runtime.environment import Deployment, Environment, install_runtime, why_not
from botforge_dev.template import Template

_REASON = why_not()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(_REASON is not None, reason=f"no Lambda environment here: {_REASON}"),
]

# The ids that the recorded events carry.
_USER = "0d9f7c1e-5b1a-4c7e-9f0e-2f4f5d1c8a11"
_BOT = "7a1de4b2-3c58-4f6b-8d2e-9b1c0a4e6f22"
_DOCUMENT = "c2b7f9d4-61aa-4e0c-b7d3-5e8f1a2b3c44"
_TIMEOUT_S = 60.0

_PROBE = """
import os, socket

def handler(event, context):
    written = {}
    for folder in ("/", "/var/task", "/opt", "/opt/python", "/var/runtime", "/etc", "/dev", "/tmp"):
        try:
            with open(os.path.join(folder, "file"), "w"):
                written[folder] = "written"
        except OSError as error:
            written[folder] = error.strerror
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
        network = "open"
    except OSError as error:
        network = error.strerror
    return {"written": written, "network": network, "uid": os.getuid(), "shm": os.path.exists("/dev/shm")}
"""

_BYTECODE = """
import importlib.util, sys
import botforge.wiring.query as query

def handler(event, context):
    with open(importlib.util.cache_from_source(query.__file__), "rb") as file:
        header = file.read(16)
    return {
        "flags": int.from_bytes(header[4:8], "little"),
        "magic": header[:4] == importlib.util.MAGIC_NUMBER,
        "seen_as": query.build.__code__.co_filename,
    }
"""

Run = Callable[[str], Environment]


def _event(name: str, **ids: str) -> dict[str, Any]:
    """A recorded event, with its example ids replaced by those given."""

    def replaced(text: str) -> str:
        for example, given in ((_USER, "user"), (_BOT, "bot"), (_DOCUMENT, "document")):
            text = text.replace(example, ids.get(given, example))
        return text

    event = json.loads(replaced((ROOT / "tests" / "events" / f"{name}.json").read_text(encoding="utf-8")))
    if event.get("isBase64Encoded"):
        event["body"] = base64.b64encode(replaced(base64.b64decode(event["body"]).decode()).encode()).decode()
    return event


def _task(folder: Path, code: str) -> Path:
    """A package of a function that is one module, readable by the user that it runs as."""
    task = folder / "task"
    task.mkdir()
    (task / "app.py").write_text(code, encoding="utf-8")
    return task


def _call(environment: Environment, name: str, **ids: str) -> tuple[int, Any]:
    """The status and the decoded body of an HTTP event's reply."""
    reply = environment.invoke(_event(name, **ids), timeout_s=_TIMEOUT_S)
    return reply["statusCode"], json.loads(reply["body"]) if reply.get("body") else None


def _variables(name: str, backing: Backing) -> dict[str, str]:
    """What the template states outright, and where the parts are that it computes."""
    declared: Mapping[str, Any] = Template(ROOT / "template.yaml").functions()[f"{name.capitalize()}Function"]
    stated = {key: value for key, value in declared["Environment"]["Variables"].items() if isinstance(value, str)}
    computed = {
        "AWS_ENDPOINT_URL": backing.s3_endpoint,
        "BUCKET": backing.bucket,
        "DATABASE_URL": backing.worker_dsn if name == "monitor" else backing.tenant_dsn,
        "LOG_LEVEL": "INFO",
        "VECTOR_BACKEND": "pgvector",
    }
    return {**stated, **computed}


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runtime")
    install_runtime(folder)
    return folder


@pytest.fixture(scope="module")
def deployment(
    build: Callable[[Architecture], Path], own_architecture: Architecture, runtime: Path
) -> Callable[[str], Deployment]:
    built = build(own_architecture)
    functions = Template(built / "template.yaml").functions()

    def deploy(name: str) -> Deployment:
        logical_id = f"{name.capitalize()}Function"
        layers = [built / layer["Ref"] for layer in functions[logical_id]["Layers"]]
        return Deployment(built / logical_id, layers, runtime, Path(sys.base_prefix))

    return deploy


@pytest.fixture(scope="module")
def run(deployment: Callable[[str], Deployment], backing: Backing) -> Generator[Run]:
    """A function's environment, kept warm for the whole module."""
    started: dict[str, Environment] = {}
    with ExitStack() as stack:

        def start(name: str) -> Environment:
            if name not in started:
                environment = Environment(deployment(name), _variables(name, backing), backing.ports)
                started[name] = stack.enter_context(environment)
            return started[name]

        yield start


@pytest.fixture
def bot(run: Run) -> tuple[str, str]:
    """A new tenant, and a bot of theirs."""
    user = str(uuid.uuid4())
    status, made = _call(run("registry"), "registry-create", user=user)
    assert status == 201, made
    return user, made["id"]


def test_the_environment_lets_a_function_write_to_tmp_alone_and_reach_no_network(
    deployment: Callable[[str], Deployment], tmp_path: Path
) -> None:
    real = deployment("query")
    with Environment(
        Deployment(_task(tmp_path, _PROBE), real.layers, real.runtime, real.language), {}, []
    ) as environment:
        seen = environment.invoke({}, timeout_s=_TIMEOUT_S)
    assert seen["written"].pop("/tmp") == "written"  # noqa: S108
    assert set(seen["written"].values()) == {"Read-only file system"}
    assert seen["network"] == "Network is unreachable"
    assert seen["uid"] != 0
    assert not seen["shm"]


def test_the_bytecode_that_is_shipped_is_loaded_without_a_look_at_its_source(
    deployment: Callable[[str], Deployment], tmp_path: Path
) -> None:
    real = deployment("query")
    with Environment(
        Deployment(_task(tmp_path, _BYTECODE), real.layers, real.runtime, real.language), {}, []
    ) as environment:
        seen = environment.invoke({}, timeout_s=_TIMEOUT_S)
    assert seen == {"flags": 0b01, "magic": True, "seen_as": "/opt/python/botforge/wiring/query.py"}


def test_a_function_without_its_settings_fails_at_init_and_names_them(
    deployment: Callable[[str], Deployment],
) -> None:
    with (
        Environment(deployment("registry"), {}, []) as environment,
        pytest.raises(FunctionError, match="DATABASE_URL"),
    ):
        environment.invoke(_event("registry-list"), timeout_s=_TIMEOUT_S)


def test_registry_makes_changes_lists_and_deletes_bots(run: Run, bot: tuple[str, str]) -> None:
    registry, (user, bot_id) = run("registry"), bot
    assert _call(registry, "registry-get", user=user, bot=bot_id)[1]["name"] == "Pumps"
    assert _call(registry, "registry-change", user=user, bot=bot_id)[1]["max_chunks"] == 3
    assert [item["id"] for item in _call(registry, "registry-list", user=user)[1]["items"]] == [bot_id]
    assert _call(registry, "registry-get", user=str(uuid.uuid4()), bot=bot_id)[0] == 404
    assert _call(registry, "registry-delete", user=user, bot=bot_id)[0] == 204
    assert _call(registry, "registry-get", user=user, bot=bot_id)[0] == 404


def test_a_document_goes_in_is_answered_from_and_goes_out_again(run: Run, bot: tuple[str, str]) -> None:
    documents, ingestion, query, (user, bot_id) = run("documents"), run("ingestion"), run("query"), bot
    status, uploaded = _call(documents, "documents-upload", user=user, bot=bot_id)
    assert (status, uploaded["status"]) == (202, "pending")
    document = uploaded["document_id"]

    created = ingestion.invoke(_event("ingestion-created", user=user, bot=bot_id), timeout_s=_TIMEOUT_S)
    assert created == {"batchItemFailures": []}
    ids = {"user": user, "bot": bot_id, "document": document}
    assert _call(documents, "documents-get", **ids)[1]["status"] == "indexed"
    assert [item["document_id"] for item in _call(documents, "documents-list", **ids)[1]["items"]] == [document]
    assert "30 months" in json.dumps(_call(documents, "documents-chunks", **ids)[1])
    assert _call(documents, "documents-namespaces", user=user)[1]["items"][0]["documents"] == 1

    status, answer = _call(query, "query-ask", user=user, bot=bot_id)
    assert (status, answer["sources"][0]["path"]) == (200, "pump.md")
    assert "30 months" in answer["response"]

    assert _call(documents, "documents-delete", **ids)[0] == 204
    removed = ingestion.invoke(_event("ingestion-removed", user=user, bot=bot_id), timeout_s=_TIMEOUT_S)
    assert removed == {"batchItemFailures": []}
    assert _call(documents, "documents-get", **ids)[0] == 404
    assert _call(query, "query-ask", user=user, bot=bot_id)[1]["sources"] == []
    assert _call(query, "query-statistics", user=user, bot=bot_id)[0] == 200


def test_a_presigned_form_is_for_one_key_of_the_bots(run: Run, bot: tuple[str, str]) -> None:
    user, bot_id = bot
    status, announced = _call(run("documents"), "documents-presign", user=user, bot=bot_id)
    assert status == 201
    assert announced["upload"]["fields"]["key"] == f"{user}/{bot_id}/a+b c.pdf"


def test_ingestion_takes_the_notifications_test_and_returns_only_what_failed(
    run: Run, bot: tuple[str, str], backing: Backing
) -> None:
    user, bot_id = bot
    backing.s3().put_object(Bucket=backing.bucket, Key=f"{user}/{bot_id}/pump.md", Body=b"# Pump\n\nThirty months.\n")
    ingestion = run("ingestion")
    assert ingestion.invoke(_event("ingestion-test-event"), timeout_s=_TIMEOUT_S) == {"batchItemFailures": []}
    mixed = _event("ingestion-mixed", user=user, bot=bot_id)
    failed = [{"itemIdentifier": mixed["Records"][1]["messageId"]}]
    assert ingestion.invoke(mixed, timeout_s=_TIMEOUT_S) == {"batchItemFailures": failed}


def test_the_monitor_purges_a_deleted_bot(run: Run, bot: tuple[str, str]) -> None:
    user, bot_id = bot
    assert _call(run("documents"), "documents-upload", user=user, bot=bot_id)[0] == 202
    assert _call(run("registry"), "registry-delete", user=user, bot=bot_id)[0] == 204
    result = run("monitor").invoke(_event("monitor"), timeout_s=_TIMEOUT_S)
    assert result["bots_purged"] >= 1
    assert result["purges_failed"] == 0


def test_health_finds_every_part_in_its_place(run: Run) -> None:
    status, report = _call(run("health"), "health")
    assert status == 200, report


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("registry", "registry-list"),
        ("documents", "documents-namespaces"),
        ("query", "query-ask"),
        ("health", "health"),
    ],
)
def test_a_warm_function_answers_again_and_again(name: str, event: str, run: Run, bot: tuple[str, str]) -> None:
    user, bot_id = bot
    statuses = {_call(run(name), event, user=user, bot=bot_id)[0] for _ in range(20)}
    assert statuses == {200}


@pytest.mark.parametrize("name", ["ingestion", "monitor"])
def test_a_warm_worker_works_again_and_again(name: str, run: Run) -> None:
    event = {"ingestion": "ingestion-test-event", "monitor": "monitor"}[name]
    replies = [run(name).invoke(_event(event), timeout_s=_TIMEOUT_S) for _ in range(20)]
    assert all(reply is not None for reply in replies)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py")))
def test_a_function_writes_structured_logs_and_no_vendors_warnings(name: str, run: Run, bot: tuple[str, str]) -> None:
    user, bot_id = bot
    event = {"query": "query-ask", "documents": "documents-namespaces", "registry": "registry-list", "health": "health"}
    recorded = event.get(name, {"ingestion": "ingestion-test-event", "monitor": "monitor"}.get(name, ""))
    run(name).invoke(_event(recorded, user=user, bot=bot_id), timeout_s=_TIMEOUT_S)
    for line in run(name).log().splitlines():
        json.loads(line)
