"""The data plane of one serverless Pinecone index, strict about what it takes and late with what it shows.

Writes become visible to reads of their namespace only after ``lag`` further reads of it: eventual consistency that a
test can count, and nobody has to sleep for.
"""

import json
import math
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import mul
from urllib.parse import unquote

from botforge_dev.fakes.loopback import Answer, Fault, Request, Respond, serve
from botforge_dev.fakes.pinecone_request import (
    MAX_LIST,
    MAX_URL_BYTES,
    Json,
    Refused,
    check_ids,
    checked_delete,
    checked_query,
    checked_upsert,
    parsed,
)

API_KEY = "pcsk_local_fake_key"
_VERSIONS = frozenset({"2026-07"})

Change = Callable[[dict[str, Json]], object]


@dataclass(slots=True)
class _Namespace:
    records: dict[str, Json] = field(default_factory=dict[str, Json])  # id → record, as reads see them
    pending: deque[tuple[int, Change]] = field(default_factory=deque[tuple[int, Change]])  # (read it waits for, change)
    reads: int = 0

    def write(self, change: Change, lag: int) -> None:
        self.pending.append((self.reads + lag, change))
        self.settle(self.reads)

    def read(self) -> dict[str, Json]:
        self.settle(self.reads)
        self.reads += 1
        return self.records

    def settle(self, reads: float) -> None:
        while self.pending and self.pending[0][0] <= reads:
            self.pending.popleft()[1](self.records)


@dataclass(slots=True)
class PineconeServer:
    """``faults`` answer the next requests, whatever they ask. ``received`` holds every request, in order."""

    api_key: str
    dimension: int
    metric: str
    lag: int
    url: str = ""
    namespaces: dict[str, _Namespace] = field(default_factory=dict[str, _Namespace])
    faults: deque[Respond | Fault] = field(default_factory=deque[Respond | Fault])
    received: list[Request] = field(default_factory=list[Request])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, *faults: Respond | Fault) -> None:
        with self._lock:
            self.faults.extend(faults)

    def settle(self) -> None:
        """Make everything written so far visible."""
        with self._lock:
            for namespace in self.namespaces.values():
                namespace.settle(math.inf)

    def handle(self, request: Request) -> Answer:
        with self._lock:
            self.received.append(request)
            if self.faults:
                return self.faults.popleft()
            try:
                return Respond(200, self._answer(request))
            except Refused as error:
                return Respond(error.status, {"code": error.code, "message": str(error), "details": []})

    def _answer(self, request: Request) -> Json:
        check_headers(request, self.api_key)
        routes: dict[tuple[str, str], Callable[[Request], Json]] = {
            ("POST", "/vectors/upsert"): self._upsert,
            ("POST", "/query"): self._query,
            ("GET", "/vectors/fetch"): self._fetch,
            ("GET", "/vectors/list"): self._list,
            ("POST", "/vectors/delete"): self._delete,
            ("POST", "/describe_index_stats"): self._stats,
        }
        if (route := routes.get((request.method, request.path))) is not None:
            return route(request)
        if request.method == "DELETE" and request.path.startswith("/namespaces/"):
            return self._delete_namespace(unquote(request.path.removeprefix("/namespaces/")))
        raise Refused("Not found.", status=404, code=5)

    def _upsert(self, request: Request) -> Json:
        body = checked_upsert(request.body, self.dimension)
        written: dict[str, Json] = {record["id"]: {"metadata": {}, **record} for record in body["vectors"]}
        namespace = self.namespaces.setdefault(body.get("namespace", ""), _Namespace())
        namespace.write(lambda records: records.update(written), self.lag)
        return {"upsertedCount": len(written)}

    def _query(self, request: Request) -> Json:
        body = checked_query(request.body, self.dimension)
        records = self._read(body.get("namespace", ""))
        stored = records.get(body["id"]) if "id" in body else body
        if stored is None:
            raise Refused("The vector of the query does not exist.", status=404, code=5)
        vector = stored["values"] if "id" in body else stored["vector"]
        matches: list[Json] = [
            {"id": id_, "score": _cosine(vector, record["values"]), **_shown(record, body)}
            for id_, record in records.items()
            if _passes(record["metadata"], body.get("filter", {}))
        ]
        matches.sort(key=lambda match: (-match["score"], match["id"]))
        return {"matches": matches[: body["topK"]], "namespace": body.get("namespace", ""), "usage": {"readUnits": 1}}

    def _fetch(self, request: Request) -> Json:
        ids = request.query.get("ids", [])
        check_ids(ids)
        records = self._read(_single(request, "namespace"))
        found = {id_: records[id_] for id_ in ids if id_ in records}
        return {"vectors": found, "namespace": _single(request, "namespace"), "usage": {"readUnits": 1}}

    def _list(self, request: Request) -> Json:
        limit = int(_single(request, "limit") or MAX_LIST)
        if not 1 <= limit <= MAX_LIST:
            raise Refused(f"'limit' must be between 1 and {MAX_LIST}.")
        after = _single(request, "paginationToken")
        records = self._read(_single(request, "namespace"))
        ids = sorted(id_ for id_ in records if id_.startswith(_single(request, "prefix")) and id_ > after)
        page: Json = {"vectors": [{"id": id_} for id_ in ids[:limit]], "namespace": _single(request, "namespace")}
        return page | ({"pagination": {"next": ids[limit - 1]}} if len(ids) > limit else {})

    def _delete(self, request: Request) -> Json:
        body = checked_delete(request.body)
        namespace = self.namespaces.get(body.get("namespace", ""))
        if namespace is None:
            raise Refused("Namespace not found", status=404, code=5)
        ids = body.get("ids")
        namespace.write(lambda records: [records.pop(id_, None) for id_ in ids or list(records)], self.lag)
        return {}

    def _delete_namespace(self, name: str) -> Json:
        if self.namespaces.pop(name, None) is None:
            raise Refused("Namespace not found", status=404, code=5)
        return {}

    def _stats(self, request: Request) -> Json:
        parsed(request.body, ())
        counts = {name: {"vectorCount": len(namespace.records)} for name, namespace in self.namespaces.items()}
        return {
            "namespaces": counts,
            "dimension": self.dimension,
            "indexFullness": 0,
            "totalVectorCount": sum(count["vectorCount"] for count in counts.values()),
            "metric": self.metric,
            "vectorType": "dense",
        }

    def _read(self, name: str) -> dict[str, Json]:
        namespace = self.namespaces.get(name)
        return namespace.read() if namespace is not None else {}


@contextmanager
def pinecone_server(
    *, api_key: str = API_KEY, dimension: int = 384, metric: str = "cosine", lag: int = 0
) -> Generator[PineconeServer]:
    server = PineconeServer(api_key, dimension, metric, lag)
    with serve(server.handle) as url:
        server.url = url
        yield server


def refusal(status: int, message: str = "It failed.", *, retry_after: str | None = None) -> Respond:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Respond(status, json.dumps({"code": 13, "message": message, "details": []}).encode(), headers)


def check_headers(request: Request, api_key: str) -> None:
    """What every request to Pinecone's API carries. Raises Refused."""
    if request.headers.get("api-key") != api_key:
        raise Refused("Unauthorized", status=401, code=16)
    if request.headers.get("x-pinecone-api-version") not in _VERSIONS:
        raise Refused("Unknown or missing X-Pinecone-Api-Version.")
    if request.method == "POST" and request.headers.get("content-type") != "application/json":
        raise Refused("The content type of a request is application/json.", status=415)
    if len(request.target) > MAX_URL_BYTES:
        raise Refused("URI too long", status=414)


def _single(request: Request, name: str) -> str:
    return request.query.get(name, [""])[0]


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(map(mul, one, other)) / (math.hypot(*one) * math.hypot(*other))


def _passes(metadata: Json, condition: Json) -> bool:
    return all(metadata.get(name) in operator["$in"] for name, operator in condition.items())


def _shown(record: Json, body: Json) -> Json:
    shown = {"values": record["values"]} if body.get("includeValues") else {}
    return shown | ({"metadata": record["metadata"]} if body.get("includeMetadata") else {})
