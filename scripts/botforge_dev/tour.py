"""``./scripts/demo``: the whole of BotForge in a minute or two, on the documents of ``examples/documents``.

Starts a stack of its own, puts documents into the bucket in each of the three ways, watches them being indexed, asks,
checks every answer against what the documents say, has a registered tool calculate, deletes a document and sees it
gone. Exits 0 only if all of it worked.
"""

import importlib.util
import json
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import httpx

from botforge_dev.build.layout import ROOT
from botforge_dev.local import processes
from botforge_dev.local.aws import REGION, AwsError
from botforge_dev.local.data_folder import FolderError
from botforge_dev.local.postgres import PostgresError
from botforge_dev.local.supervisor import LocalStack, StackError
from botforge_dev.local.tokens import TokenIssuer
from botforge_dev.model.weights import WeightsError

DOCUMENTS = ROOT / "examples" / "documents"
TOOL_SERVER = ROOT / "examples" / "tool_server.py"
CALCULATION, CALCULATED = "Calculate 25 * 17 + 100", "525"
_INDEXING_S = 180


class DemoFailed(Exception):
    """Something did not do what it should; the message says what."""


@dataclass(slots=True)
class Tour:
    api: httpx.Client
    described: dict[str, Any]
    bot: str = ""
    documents: dict[str, str] = field(default_factory=dict[str, str])  # file name → id

    def run(self, folder: Path) -> None:
        questions: dict[str, list[dict[str, str]]] = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
        with _step("Create a bot"):
            self.bot = self._call("POST", "/api/bots", 201, json={"name": "Guided tour"})["id"]
            print(f"   bot {self.bot}")
        files = sorted(path for path in folder.iterdir() if guess_type(path.name)[0] and path.suffix != ".json")
        files = [path for path in files if path.name != "README.md"]
        with _step("Put documents into the bucket: by upload, by presigned form, and directly"):
            for number, file in enumerate(files):
                (self._upload, self._presign, self._put)[number % 3](file)
        with _step("Watch them being indexed"):
            self._await_indexed(len(files))
        for question in questions["answerable"]:
            with _step(f"Ask: {question['question']}"):
                self._ask(question["question"], question["phrase"], question["file"])
        for question in questions["unanswerable"]:
            with _step(f"Ask what the documents do not say: {question['question']}"):
                self._ask_in_vain(question["question"])
        with _step("Register the tool server of examples/tool_server.py"), example_tools() as endpoint:
            self._register(endpoint)
            with _step(f"Ask for action: {CALCULATION}"):
                self._calculate()
        gone = questions["answerable"][0]
        with _step(f"Delete {gone['file']}, and ask again: {gone['question']}"):
            self._delete(gone["file"], gone["question"], gone["phrase"])
        with _step("Another tenant asks for the bot"):
            self._ask_as_another()
        with _step("Statistics and health"):
            self._statistics()

    def _upload(self, file: Path) -> None:
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        files = {"file": (file.name, file.read_bytes(), media_type)}
        reply = self._call("POST", "/upload/documents", 202, data={"bot_id": self.bot}, files=files)
        print(f"   {file.name}: uploaded ({reply['size']} bytes)")

    def _presign(self, file: Path) -> None:
        body = file.read_bytes()
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        wish = {"bot_id": self.bot, "filename": file.name, "content_type": media_type, "size": len(body)}
        form = self._call("POST", "/upload/documents", 201, json=wish)["upload"]
        sent = httpx.post(form["url"], data=form["fields"], files={"file": body}, timeout=30, trust_env=False)
        _expect(sent.status_code in {200, 201, 204}, f"the presigned form was refused: {sent.status_code} {sent.text}")
        print(f"   {file.name}: sent with a presigned form")

    def _put(self, file: Path) -> None:
        s3 = boto3.client(  # pyright: ignore[reportUnknownMemberType]
            "s3",
            endpoint_url=self.described["endpoints"]["s3"],
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 - moto checks none
        )
        key = f"{self.described['user']}/{self.bot}/{file.name}"
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        s3.put_object(Bucket=self.described["bucket"], Key=key, Body=file.read_bytes(), ContentType=media_type)
        print(f"   {file.name}: put as s3://{self.described['bucket']}/{key}")

    def _await_indexed(self, expected: int) -> None:
        until = time.monotonic() + _INDEXING_S
        while True:
            items = self._call("GET", f"/upload/documents/{self.bot}", 200)["items"]
            finished = [item for item in items if item["status"] not in {"pending", "processing"}]
            if len(finished) == expected:
                break
            _expect(time.monotonic() < until, f"not indexed within {_INDEXING_S} s: {items}")
            time.sleep(0.2)
        for item in finished:
            _expect(item["status"] == "indexed", f"{item['filename']} is {item['status']}: {item['reason']}")
            self.documents[item["filename"]] = item["document_id"]
            print(f"   {item['filename']}: indexed, {item['chunk_count']} passages")

    def _ask(self, question: str, phrase: str, file: str) -> None:
        reply = self._query(question)
        _show(reply)
        found = [*reply["sources"], *reply["retrieved"]]  # what the answer cites, and what it was given beside that
        text = " ".join([reply["response"], *(source["text"] for source in found)])
        _expect(not reply["abstained"], "the bot found nothing")
        _expect(phrase.lower() in " ".join(text.lower().split()), f"neither answer nor sources say “{phrase}”")
        _expect(file in {source["filename"] for source in found}, f"{file} is not among the sources")

    def _ask_in_vain(self, question: str) -> None:
        reply = self._query(question)
        _show(reply)
        _expect(reply["abstained"] and not reply["sources"], "the bot should have found nothing")

    def _register(self, endpoint: str) -> None:
        policies = {"*": {"read_only": True}}
        wish = {"bot_id": self.bot, "name": "Example tools", "endpoint_url": endpoint, "policies": policies}
        registered = self._call("POST", "/api/mcp/register", 201, json=wish)
        print(f"   {endpoint}: {', '.join(tool['name'] for tool in registered['tools'])}")

    def _calculate(self) -> None:
        body = {"user_id": self.described["user"], "bot_id": self.bot, "client_id": "demo", "query": CALCULATION}
        reply = self._call("POST", "/vector/mcp-query", 200, json=body)
        print("\n".join(f"   {line}" for line in reply["response"].splitlines()))
        _expect(CALCULATED in reply["response"], f"the answer does not say {CALCULATED}")
        (used,) = reply["mcp_tools_used"]
        _expect(used["status"] == "succeeded", f"the call {used['status']}: {used['error_message']}")
        rows = self._call("GET", f"/api/mcp/executions/{self.bot}", 200)["items"]
        row = next((row for row in rows if row["id"] == used["execution_id"]), None)
        _expect(row is not None and row["status"] == "succeeded", "no execution proves the call")
        print(f"   execution {used['execution_id']}: {used['tool']} {used['arguments']} {used['status']}")

    def _delete(self, file: str, question: str, phrase: str) -> None:
        self._call("DELETE", f"/upload/documents/{self.bot}/{self.documents[file]}", 204)
        reply = self._query(question)
        _show(reply)
        _expect(all(source["filename"] != file for source in reply["sources"]), f"{file} is still quoted")
        _expect(phrase.lower() not in reply["response"].lower(), "the answer still says what was deleted")

    def _ask_as_another(self) -> None:
        token = TokenIssuer.in_folder(Path(self.described["folder"])).mint(other := uuid4())
        body = {"user_id": str(other), "bot_id": self.bot, "client_id": "demo", "query": "What do you know?"}
        reply = self.api.post("/vector/query", json=body, headers={"authorization": f"Bearer {token}"})
        _expect(reply.status_code == 404, f"another tenant got {reply.status_code}")
        print(f"   404 {reply.json()['code']}")

    def _statistics(self) -> None:
        summed = self._call("GET", f"/vector/stats/{self.described['user']}/{self.bot}", 200)
        health = self._call("GET", "/health", 200)
        print(f"   {summed['total']} queries {summed['by_status']}, p50 {summed['latency_p50_ms']:.0f} ms")
        print(f"   health: {health['status']}")

    def _query(self, question: str) -> dict[str, Any]:
        body = {"user_id": self.described["user"], "bot_id": self.bot, "client_id": "demo", "query": question}
        return self._call("POST", "/vector/query", 200, json=body)

    def _call(self, method: str, path: str, expected: int, **content: Any) -> Any:  # noqa: ANN401 - any JSON
        reply = self.api.request(method, path, **content)
        _expect(reply.status_code == expected, f"{method} {path} answered {reply.status_code}: {reply.text[:500]}")
        return reply.json() if reply.content else None


def _show(reply: dict[str, Any]) -> None:
    how = ", ".join(f"{part}: {reason}" for part, reason in reply["degraded_reasons"].items())
    print(f"   {reply['response']}")
    for source in reply["sources"][:3]:
        where = f", page {source['page']}" if source["page"] else ""
        print(f"     [{source['number']}] {source['filename']}{where} (relevance {source['relevance']:.2f})")
    print(f"   {reply['execution_time'] * 1000:.0f} ms{f' (degraded: {how})' if how else ''}")


def _report(what: str) -> None:
    print(f"  starting: {what}", flush=True)


@contextmanager
def example_tools() -> Generator[str]:
    """Run examples/tool_server.py in a thread; gives its endpoint."""
    spec = importlib.util.spec_from_file_location("example_tool_server", TOOL_SERVER)
    assert spec is not None and spec.loader is not None, "the file is there"  # noqa: S101, PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server: ThreadingHTTPServer = module.make_server()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _step(title: str) -> Generator[None]:
    print(f"\n▸ {title}", flush=True)
    start = time.monotonic()
    yield
    print(f"   ✓ {time.monotonic() - start:.2f} s", flush=True)


def _expect(condition: bool, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise DemoFailed(message)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="botforge-demo-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            with LocalStack(folder, processes.free_port(), _report) as stack:
                headers = {"authorization": f"Bearer {stack.description['token']}"}
                with httpx.Client(base_url=stack.url, headers=headers, timeout=35, trust_env=False) as api:
                    Tour(api, {**stack.description, "folder": str(folder)}).run(DOCUMENTS)
        except (DemoFailed, StackError, PostgresError, WeightsError, AwsError, FolderError) as error:
            print(f"\n✗ {error}", file=sys.stderr)
            return 1
    print("\nAll of it worked.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
