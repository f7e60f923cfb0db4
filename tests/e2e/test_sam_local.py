"""The same template, handlers and events under `sam local`: opt-in, as it needs a Docker engine."""

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Backing

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT, RUNTIME, Architecture
from botforge_dev.local import processes
from botforge_dev.runtime.loopback import Bridge
from botforge_dev.template import Template

pytestmark = [pytest.mark.sam, pytest.mark.timeout(900)]

_STARTING_S = 300.0  # building the image with the layers included
_WORKERS_USER = "0d9f7c1e-5b1a-4c7e-9f0e-2f4f5d1c8a11"  # the recorded events' ids
_WORKERS_BOT = "7a1de4b2-3c58-4f6b-8d2e-9b1c0a4e6f22"


@dataclass(frozen=True, slots=True)
class Sam:
    """`sam local` for what was built, with the options that every command of it needs."""

    options: list[str]
    environment: Mapping[str, str]
    folder: Path

    def command(self, name: str, *arguments: str) -> list[str]:
        return [toolchain.sam(), "local", name, *arguments, *self.options]

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The reply of a function to one event."""
        file = self.folder / "event.json"
        file.write_text(json.dumps(event), encoding="utf-8")
        done = subprocess.run(  # noqa: S603
            self.command("invoke", function, "--event", str(file)),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def gateway() -> str:
    """The address at which containers find this machine. Skips where no Docker engine answers."""
    if shutil.which("docker") is None:
        pytest.skip("`docker` is not installed")
    found = subprocess.run(
        ["docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        pytest.skip(f"no Docker engine answers (set DOCKER_HOST): {found.stderr.strip()}")
    return found.stdout.strip()


@pytest.fixture(scope="module")
def sam(
    gateway: str,
    backing: Backing,
    build: Callable[[Architecture], Path],
    own_architecture: Architecture,
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[Sam]:
    folder, built = tmp_path_factory.mktemp("sam"), build(own_architecture)
    listeners = {port: socket.create_server((gateway, 0)) for port in backing.ports}
    bridge = Bridge(listeners)
    try:
        outside = {port: f"{gateway}:{listener.getsockname()[1]}" for port, listener in listeners.items()}
        (folder / "variables.json").write_text(json.dumps(_variables(backing, outside)), encoding="utf-8")
        parameters = {
            "Architecture": own_architecture.value,
            "DatabaseTenantSecretArn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:none",
            "DatabaseWorkerSecretArn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:none",
            "SnapStart": "off",
            "Stage": "local",
        }
        options = ["--template", str(built / "template.yaml"), "--env-vars", str(folder / "variables.json")]
        options += ["--parameter-overrides", *(f"{name}={value}" for name, value in parameters.items())]
        options += ["--skip-pull-image"] if _has_image(own_architecture) else []
        credentials = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
        yield Sam(options, {**toolchain.sam_environment(), **credentials}, folder)
    finally:
        bridge.close()


@pytest.fixture(scope="module")
def api(sam: Sam) -> Generator[str]:
    """The URL of `sam local start-api`."""
    port, log = processes.free_port(), sam.folder / "start-api.log"
    with log.open("wb") as output:
        server = subprocess.Popen(  # noqa: S603
            sam.command("start-api", "--port", str(port), "--warm-containers", "LAZY"),
            env=sam.environment,
            stdout=output,
            stderr=output,
        )
    try:
        until = time.monotonic() + _STARTING_S
        while processes.is_free(port):
            assert server.poll() is None and time.monotonic() < until, log.read_text()  # noqa: PT018
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture
def client(api: str) -> Generator[httpx.Client]:
    """Speaks as the user of the recorded events, with a token that nobody has signed: no authorizer runs here."""
    claims = base64.urlsafe_b64encode(json.dumps({"sub": _WORKERS_USER}).encode()).decode().rstrip("=")
    headers = {"authorization": f"Bearer e30.{claims}.e30"}
    with httpx.Client(base_url=api, headers=headers, timeout=120, trust_env=False) as client:
        yield client


def test_every_function_serves_its_events_under_sam_local(client: httpx.Client, sam: Sam) -> None:
    # A function that fails to start looks like a 200 here: only its own words show that it answered.
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/api/bots", headers={"authorization": "Bearer none"}).status_code == 401

    made = client.post("/api/bots", json={"name": "Pumps", "description": ""})
    assert made.status_code == 201, made.text
    bot = made.json()["id"]
    manual = b"# Pump manual\n\n## Warranty\n\nThe warranty on the pump is 30 months from the day of delivery.\n"
    sent = client.post("/upload/documents", data={"bot_id": bot}, files={"file": ("pump.md", manual, "text/markdown")})
    assert sent.status_code == 202, sent.text
    document = f"/upload/documents/{bot}/{sent.json()['document_id']}"

    assert sam.invoke("IngestionFunction", _event("ingestion-created", bot)) == {"batchItemFailures": []}
    assert client.get(document).json()["status"] == "indexed"
    question = {"user_id": _WORKERS_USER, "bot_id": bot, "client_id": "web"}
    question["query"] = "How long is the warranty on the pump?"
    answer = client.post("/vector/query", json=question)
    assert answer.status_code == 200, answer.text
    assert "30 months" in answer.json()["response"]
    assert client.get(f"/vector/stats/{_WORKERS_USER}/{bot}").status_code == 200

    assert client.delete(document).status_code == 204
    assert sam.invoke("IngestionFunction", _event("ingestion-removed", bot)) == {"batchItemFailures": []}
    assert client.post("/vector/query", json=question).json()["sources"] == []
    assert client.delete(f"/api/bots/{bot}").status_code == 204
    assert sam.invoke("MonitorFunction", _event("monitor", bot))["bots_purged"] == 1


def _event(name: str, bot: str) -> dict[str, Any]:
    text = (ROOT / "tests" / "events" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text.replace(_WORKERS_BOT, bot))


def _variables(backing: Backing, outside: Mapping[int, str]) -> dict[str, dict[str, str]]:
    """What --env-vars takes: for each function, where containers find the servers of this machine."""

    def reached(url: str) -> str:
        for port, address in outside.items():
            url = url.replace(f"127.0.0.1:{port}", address)
        return url

    return {
        name: {
            "AWS_ENDPOINT_URL": reached(backing.s3_endpoint),
            "BUCKET": backing.bucket,
            "DATABASE_URL": reached(backing.worker_dsn if name == "MonitorFunction" else backing.tenant_dsn),
        }
        for name in Template(ROOT / "template.yaml").functions()
    }


def _has_image(architecture: Architecture) -> bool:
    """Whether the base image is here already; otherwise the SAM CLI pulls it."""
    image = f"public.ecr.aws/lambda/python:{RUNTIME}-{architecture.value}"
    return subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False).returncode == 0  # noqa: S603, S607
