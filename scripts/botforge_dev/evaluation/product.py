"""BotForge as a client sees it: put documents, wait until they are read, ask."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from mimetypes import guess_type
from typing import Any, Protocol, TypeVar

import httpx

_CLIENTS = 2
_ATTEMPTS = 3
_POLL_S = 1.0
_PATIENCE_S = 900.0  # without any document finishing
_FINISHED = {"indexed", "failed", "rejected"}

Item = TypeVar("Item")
Result = TypeVar("Result")


class ProductError(Exception):
    """BotForge did not do what the evaluation asked of it; the message says what."""


class Bucket(Protocol):
    """A way around the API, where there is one: objects put straight into the bucket."""

    def put(self, key: str, body: bytes, content_type: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Document:
    filename: str
    body: bytes

    @property
    def content_type(self) -> str:
        return guess_type(self.filename)[0] or "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Product:
    api: httpx.Client
    user: str
    bucket: Bucket | None  # None: everything goes through POST /upload/documents
    report: Callable[[str], None]

    def create_bot(self, name: str) -> str:
        return self._call("POST", "/api/bots", HTTPStatus.CREATED, json={"name": name})["id"]

    def delete_bot(self, bot: str) -> None:
        self._call("DELETE", f"/api/bots/{bot}", HTTPStatus.NO_CONTENT)

    def ingest(self, bot: str, documents: Sequence[Document]) -> dict[str, dict[str, Any]]:
        """Put every document and wait until each is indexed, failed or rejected; file name → document."""
        self.report(f"putting {len(documents)} documents")
        self.each(lambda document: self._put(bot, document), documents)
        return self._await_all(bot, {document.filename for document in documents})

    def text_of(self, bot: str, document_id: str) -> str:
        """What the product read out of a document: its passages in order, joined by line ends."""
        path = f"/upload/documents/{bot}/{document_id}/chunks"
        return "\n".join(item["text"] for item in self._pages(path))

    def query(
        self, bot: str, text: str, *, max_chunks: int, threshold: float | None = None, document: str | None = None
    ) -> dict[str, Any]:
        """The reply of POST /vector/query; the bot's own threshold if ``threshold`` is None.

        ``document``: the id of the only one to answer from.
        """
        body: dict[str, Any] = {
            "user_id": self.user,
            "bot_id": bot,
            "client_id": "evaluation",
            "query": text,
            "max_chunks": max_chunks,
        }
        if threshold is not None:
            body["similarity_threshold"] = threshold
        if document is not None:
            body["document_ids"] = [document]
        return self._call("POST", "/vector/query", HTTPStatus.OK, json=body)

    def each(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """``work`` on every item by two clients at a time, in order; reports every tenth of the way."""
        results: list[Result] = []
        step = max(1, len(items) // 10)
        with ThreadPoolExecutor(max_workers=_CLIENTS) as pool:
            for result in pool.map(work, items):
                results.append(result)
                if len(results) % step == 0:
                    self.report(f"{len(results)} of {len(items)}")
        return results

    def _put(self, bot: str, document: Document) -> None:
        if self.bucket is not None:
            self.bucket.put(f"{self.user}/{bot}/{document.filename}", document.body, document.content_type)
            return
        files = {"file": (document.filename, document.body, document.content_type)}
        self._call("POST", "/upload/documents", HTTPStatus.ACCEPTED, data={"bot_id": bot}, files=files)

    def _await_all(self, bot: str, names: set[str]) -> dict[str, dict[str, Any]]:
        finished: dict[str, dict[str, Any]] = {}
        patience = time.monotonic() + _PATIENCE_S
        while True:
            found = {item["path"]: item for item in self._pages(f"/upload/documents/{bot}")}
            done = {name: item for name, item in found.items() if name in names and item["status"] in _FINISHED}
            if len(done) > len(finished):
                patience = time.monotonic() + _PATIENCE_S
                self.report(f"read {len(done)} of {len(names)}")
            finished = done
            if len(finished) == len(names):
                return finished
            if time.monotonic() > patience:
                waiting = sorted(names - finished.keys())
                raise ProductError(f"{len(waiting)} documents stay unread, {waiting[0]} among them.")
            time.sleep(_POLL_S)

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            parameters = {"limit": "100"} if cursor is None else {"limit": "100", "cursor": cursor}
            page = self._call("GET", path, HTTPStatus.OK, params=parameters)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _call(self, method: str, path: str, expected: HTTPStatus, **content: Any) -> Any:  # noqa: ANN401 - any JSON
        """Tries again what the product could not do for the moment (503): figures are about answers, not about load."""
        reply = self.api.request(method, path, **content)
        for attempt in range(1, _ATTEMPTS):
            if reply.status_code not in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS}:
                break
            time.sleep(attempt)
            reply = self.api.request(method, path, **content)
        if reply.status_code != expected:
            raise ProductError(f"{method} {path} answered {reply.status_code}: {reply.text[:500]}")
        return reply.json() if reply.content else None


def distinct(documents: Iterable[Document]) -> list[Document]:
    """The documents, if no two share a name. Raises ProductError otherwise: one would replace the other."""
    named: dict[str, Document] = {}
    for document in documents:
        if named.setdefault(document.filename, document) is not document:
            raise ProductError(f"Two documents are called {document.filename}.")
    return list(named.values())
