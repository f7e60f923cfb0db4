"""``./scripts/serve`` as its user meets it: one command, everything over HTTP, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import httpx
import pytest

from botforge_dev.local import processes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_TEXT = "# Zephyr pump manual\n\nThe Zephyr 9 pump needs 4.2 litres of mineral oil. Change the oil every 700 hours.\n"
_OTHER = "# Zephyr pump warranty\n\nOil of the Zephyr pump: mineral only, or the warranty of the Zephyr 9 pump ends.\n"
_QUESTION = "How much oil does the Zephyr pump need?"
_INDEXING_S = 120


@dataclass(frozen=True, slots=True)
class Stack:
    process: subprocess.Popen[bytes]
    folder: Path
    port: int
    output: Path

    @property
    def described(self) -> dict[str, Any]:
        return json.loads((self.folder / "local.json").read_text())

    def call(self, method: str, path: str, token: str | None = None, **options: Any) -> httpx.Response:  # noqa: ANN401
        headers = {"authorization": f"Bearer {token or self.described['token']}"}
        url = f"http://127.0.0.1:{self.port}{path}"
        return httpx.request(method, url, headers=headers, timeout=60, trust_env=False, **options)

    def ask(self) -> dict[str, Any]:
        body = {"user_id": self.described["user"], "bot_id": self.described["bot"], "client_id": "test"}
        answer = self.call("POST", "/vector/query", json={**body, "query": _QUESTION})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def upload(self, name: str) -> str:
        files = {"file": (name, _TEXT.encode(), "text/markdown")}
        answer = self.call("POST", "/upload/documents", data={"bot_id": self.described["bot"]}, files=files)
        assert answer.status_code == 202, answer.text
        return answer.json()["document_id"]

    def put(self, name: str) -> None:
        """As the AWS CLI does."""
        s3 = boto3.client(  # pyright: ignore[reportUnknownMemberType]
            "s3",
            endpoint_url=self.described["endpoints"]["s3"],
            region_name=self.described["region"],
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )
        key = f"{self.described['user']}/{self.described['bot']}/{name}"
        s3.put_object(Bucket=self.described["bucket"], Key=key, Body=_OTHER.encode(), ContentType="text/markdown")

    def await_status(self, name: str, status: str | None) -> dict[str, Any]:
        """``None``: until it is not listed any more."""
        tick = threading.Event()
        found: dict[str, Any] = {}
        nothing: dict[str, Any] = {}
        for _ in range(_INDEXING_S * 5):
            items = self.call("GET", f"/upload/documents/{self.described['bot']}").json()["items"]
            found = next((item for item in items if item["filename"] == name), nothing)
            if found.get("status") == status:
                return found
            tick.wait(0.2)
        raise AssertionError(f"{name} did not become {status}: {found}")


def _start(folder: Path, port: int, output: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "botforge_dev.local.serve", "--port", str(port), "--data-dir", str(folder)]
    env = {**os.environ, "OPENAI_API_KEY": "", "REDIS_URL": "", "DATABASE_URL": ""}
    with output.open("ab") as file:
        return subprocess.Popen(  # noqa: S603 - our own
            [*command, *options], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env, start_new_session=True
        )


@contextmanager
def _serving(folder: Path, *options: str) -> Generator[Stack]:
    """Until the block ends; then Ctrl-C, after which every port must be free."""
    folder.parent.mkdir(exist_ok=True)
    output = folder.with_suffix(".out")
    output.write_bytes(b"")
    port = processes.free_port()
    process = _start(folder, port, output, *options)
    try:
        tick = threading.Event()
        while "Paste these" not in output.read_text():
            assert process.poll() is None, output.read_text()
            tick.wait(0.1)
        yield Stack(process, folder, port, output)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 0, output.read_text()
            assert processes.is_free(port)
            for name in ("postgres", "aws"):
                assert processes.is_free(int((folder / f"{name}.port").read_text())), name
    finally:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True)
def weights(model_dir: Path) -> Path:
    return model_dir


def test_the_spine_works_over_http_and_a_second_start_keeps_it(tmp_path: Path) -> None:
    folder = tmp_path / "data dir"
    with _serving(folder) as stack:
        described = stack.described
        assert described["url"] == f"http://127.0.0.1:{stack.port}"
        assert (folder / "local.json").stat().st_mode & 0o077 == 0
        assert described["token"] in stack.output.read_text()
        assert stack.call("GET", "/health").status_code == 200
        uploaded = stack.upload("manual.md")
        stack.await_status("manual.md", "indexed")
        assert "4.2 litres" in stack.ask()["response"]
        stack.put("direct.md")
    with _serving(folder) as stack:
        assert stack.described["bot"] == described["bot"]
        # Stopped right after the put: what was not yet ingested then is ingested now.
        stack.await_status("direct.md", "indexed")
        assert {source["filename"] for source in stack.ask()["sources"]} == {"manual.md", "direct.md"}
        for document in (uploaded, stack.await_status("direct.md", "indexed")["document_id"]):
            assert stack.call("DELETE", f"/upload/documents/{described['bot']}/{document}").status_code in {202, 204}
        for name in ("manual.md", "direct.md"):
            stack.await_status(name, None)
        gone = stack.ask()
        assert gone["sources"] == []
        assert "4.2" not in gone["response"]
        stranger = _token(folder)
        assert stack.call("GET", f"/api/bots/{described['bot']}", stranger).status_code == 404
    with _serving(folder, "--reset") as stack:
        assert stack.described["bot"] != described["bot"]
        assert stack.call("GET", "/api/bots", described["token"]).status_code == 401


def test_after_a_kill_the_next_start_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with _serving(folder) as stack:
        stack.put("direct.md")
        stack.process.kill()
        stack.process.wait()
    with _serving(folder) as stack:
        stack.await_status("direct.md", "indexed")
        assert [source["filename"] for source in stack.ask()["sources"]] == ["direct.md"]


def test_a_second_stack_needs_a_port_and_a_folder_of_its_own(tmp_path: Path) -> None:
    with _serving(tmp_path / "first") as first:
        taken = tmp_path / "taken.out"
        assert _start(tmp_path / "second", first.port, taken).wait(60) != 0
        assert taken.read_text() == f"serve: Port {first.port} is in use. Choose another one with --port.\n"
        assert not (tmp_path / "second").exists()
        shared = tmp_path / "shared.out"
        assert _start(first.folder, processes.free_port(), shared, "--reset").wait(60) != 0
        assert f"is being served by process {first.process.pid}" in shared.read_text()
        with _serving(tmp_path / "second") as second:
            assert second.described["bot"] != first.described["bot"]
            assert second.call("GET", "/health").status_code == first.call("GET", "/health").status_code == 200


def test_ctrl_c_frees_every_port_though_children_hang_and_again_is_pressed(tmp_path: Path) -> None:
    with _serving(tmp_path / "data") as stack:
        for child in _children(stack.process.pid):
            os.kill(child, signal.SIGSTOP)
        stack.process.send_signal(signal.SIGINT)
        threading.Event().wait(0.5)
        stack.process.send_signal(signal.SIGINT)
        assert stack.process.wait(60) == 0
        for name in ("postgres", "aws"):
            assert processes.is_free(int((stack.folder / f"{name}.port").read_text())), name


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def _token(folder: Path) -> str:
    command = [sys.executable, "-m", "botforge_dev.local.token", "--user", str(uuid4()), "--data-dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
