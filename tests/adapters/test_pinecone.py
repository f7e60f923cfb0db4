"""What only Pinecone can show: its limits, its faults, and what a serverless index refuses."""

import json
import logging
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from uuid import UUID, uuid4

import httpx
import pytest

from botforge.adapters.vectors.pinecone import PineconeIndex
from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.errors import VectorIndexUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector
from botforge_dev.fakes.loopback import Cut, Fault, Hang, Respond, Trickle
from botforge_dev.fakes.pinecone_server import API_KEY, PineconeServer, pinecone_server, refusal

SECONDS = 0.6  # a deadline that a fault runs into
SLACK = 2.0  # far more than a loaded machine needs on top, far less than the fault would take
USER, BOT = UserId(UUID(int=1)), BotId(UUID(int=2))
VECTOR = [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def running() -> Iterator[PineconeServer]:
    with pinecone_server(dimension=len(VECTOR)) as server:
        yield server


@pytest.fixture
def server(running: PineconeServer) -> PineconeServer:
    running.namespaces.clear()
    running.faults.clear()
    running.received.clear()
    return running


@pytest.fixture(scope="module")
def index(running: PineconeServer) -> Iterator[PineconeIndex]:
    # "localhost" because the SDK counts failures by host, and stops retrying when there were many at one.
    with closing(PineconeIndex(api_key=API_KEY, host=running.url.replace("127.0.0.1", "localhost"))) as index:
        yield index


def refs(count: int, *, of: DocumentId | None = None) -> list[ChunkRef]:
    document = of or DocumentId(uuid4())
    return [ChunkRef(document, 1, ordinal) for ordinal in range(count)]


def write(index: PineconeIndex, written: list[ChunkRef], vector: Vector = VECTOR) -> None:
    index.upsert(USER, BOT, [(ref, vector) for ref in written])


def ask(index: PineconeIndex, *, top_k: int = 10, seconds: float = 20) -> list[Hit]:
    return index.query(USER, BOT, VECTOR, top_k=top_k, deadline=Deadline.after(seconds))


def requests(server: PineconeServer, path: str) -> list[dict[str, list[object]]]:
    return [json.loads(request.body) for request in server.received if request.path == path]


# ---------------------------------------------------------------- limits


def test_a_batch_is_split_by_count(server: PineconeServer, index: PineconeIndex) -> None:
    write(index, refs(2_300))

    assert [len(body["vectors"]) for body in requests(server, "/vectors/upsert")] == [1_000, 1_000, 300]


def test_a_batch_is_split_by_bytes_as_well_as_by_count() -> None:
    vector = [1 / 3] * 1_536  # 20 characters a value: 31 kB a record
    with (
        pinecone_server(dimension=len(vector)) as server,
        closing(PineconeIndex(api_key=API_KEY, host=server.url)) as index,
    ):
        write(index, refs(150), vector)

        sizes = [len(request.body) for request in server.received]
        assert len(server.namespaces[str(BOT)].records) == 150
    assert len(sizes) == 3
    assert max(sizes) <= 2_000_000
    assert min(sizes[:-1]) > 1_900_000  # full ones


def test_only_ids_go_into_metadata(server: PineconeServer, index: PineconeIndex) -> None:
    [ref] = refs(1)
    write(index, [ref])

    assert server.namespaces[str(BOT)].records == {
        str(ref): {
            "id": str(ref),
            "values": VECTOR,
            "metadata": {"document_id": str(ref.document_id), "generation": 1},
        }
    }


def test_a_thousand_ids_are_asked_for_in_urls_that_gateways_take(server: PineconeServer, index: PineconeIndex) -> None:
    written = refs(1_000)
    write(index, written)

    assert index.missing(USER, BOT, written) == frozenset()
    assert max(len(request.target) for request in server.received) < 8_192


def test_deletes_name_ids_found_by_prefix_a_thousand_at_a_time(server: PineconeServer, index: PineconeIndex) -> None:
    document = DocumentId(uuid4())
    write(index, refs(2_050, of=document))

    index.delete_generations(USER, BOT, document, keep=None)

    assert [len(body["ids"]) for body in requests(server, "/vectors/delete")] == [1_000, 1_000, 50]
    assert server.namespaces[str(BOT)].records == {}


def test_ids_that_are_none_of_ours_are_no_hits(server: PineconeServer, index: PineconeIndex) -> None:
    [ref] = refs(1)
    write(index, [ref])
    server.namespaces[str(BOT)].records["left-by-somebody"] = {"values": VECTOR, "metadata": {}}

    assert [hit.ref for hit in ask(index)] == [ref]


def test_an_index_that_does_not_measure_by_cosine_is_not_healthy() -> None:
    with (
        pinecone_server(metric="dotproduct") as server,
        closing(PineconeIndex(api_key=API_KEY, host=server.url)) as index,
        pytest.raises(VectorIndexUnavailable, match="cosine"),
    ):
        index.ping(Deadline.after(20))


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize("fault", [refusal(429), refusal(503), Cut("request")])
def test_a_passing_fault_is_not_noticed(server: PineconeServer, index: PineconeIndex, fault: Respond | Fault) -> None:
    written = refs(1)
    write(index, written)
    server.fail(fault)

    assert [hit.ref for hit in ask(index)] == written


@pytest.mark.parametrize(
    "fault",
    [
        refusal(400, "Vector dimension 3 does not match"),
        refusal(401),
        refusal(403),
        refusal(404),
        refusal(409),
        Cut(),
        Respond(200, b"<html>Welcome to the proxy</html>"),
        Respond(200, b'{"matches": "many"}'),
        Respond(200, b""),
        Respond(200, b"nothing compressed", {"Content-Encoding": "gzip"}),
        Respond(302, headers={"Location": "http://127.0.0.1:9/query"}),
    ],
)
def test_what_no_retry_would_change_is_unavailable(
    server: PineconeServer, index: PineconeIndex, fault: Respond | Fault
) -> None:
    server.fail(fault)

    with pytest.raises(VectorIndexUnavailable):
        ask(index)

    assert len(server.received) == 1


@pytest.mark.parametrize("fault", [Hang(), Trickle(), Trickle(part="headers"), refusal(429, retry_after="60")])
def test_a_query_ends_with_its_deadline_and_the_next_one_works(
    server: PineconeServer, index: PineconeIndex, fault: Respond | Fault
) -> None:
    server.fail(fault)
    began = time.monotonic()

    with pytest.raises(VectorIndexUnavailable):
        ask(index, seconds=SECONDS)

    assert time.monotonic() - began < SECONDS + SLACK
    assert ask(index) == []


def test_a_request_without_a_deadline_has_one_of_the_adapters() -> None:
    began = time.monotonic()
    with (
        pinecone_server(dimension=len(VECTOR)) as server,
        closing(PineconeIndex(api_key=API_KEY, host=server.url, request_timeout=SECONDS)) as index,
    ):
        server.fail(Trickle())
        with pytest.raises(VectorIndexUnavailable):
            write(index, refs(1))
    assert time.monotonic() - began < SECONDS + SLACK


def test_calls_that_are_left_behind_cannot_pile_up() -> None:
    with (
        pinecone_server(dimension=len(VECTOR)) as server,
        closing(PineconeIndex(api_key=API_KEY, host=server.url)) as index,
    ):
        server.fail(*[Trickle()] * 40)
        for _ in range(20):
            with pytest.raises(VectorIndexUnavailable):
                ask(index, seconds=0.05)
        left = [thread for thread in threading.enumerate() if thread.name == "pinecone-call"]
        assert len(left) <= 16


# ---------------------------------------------------------------- secrets


@pytest.mark.parametrize("fault", [refusal(401, f"Wrong key {API_KEY}"), refusal(400, API_KEY), Cut()])
def test_the_key_is_in_no_message_traceback_or_log(
    server: PineconeServer, index: PineconeIndex, fault: Respond | Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.fail(fault)

    with pytest.raises(VectorIndexUnavailable) as raised:
        ask(index)

    assert API_KEY not in "".join(traceback.format_exception(raised.value))
    assert API_KEY not in caplog.text
    assert server.received[0].headers["api-key"] == API_KEY


def test_a_key_read_from_a_file_may_end_in_a_newline(server: PineconeServer) -> None:
    with closing(PineconeIndex(api_key=f"{API_KEY}\n", host=server.url)) as index:
        assert ask(index) == []


@pytest.mark.parametrize("key", ["pcsk\u2026", "pcsk_a\nb"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ValueError, match="header") as raised:
        PineconeIndex(api_key=key, host="http://127.0.0.1:1")

    assert key not in str(raised.value)


# ---------------------------------------------------------------- the stand-in is as strict as the service


def _record(**changes: object) -> dict[str, object]:
    return {"id": "a", "values": VECTOR, "metadata": {"document_id": "x"}, **changes}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/vectors/upsert", {"vectors": []}),
        ("/vectors/upsert", {"vectors": [_record()] * 1_001}),
        ("/vectors/upsert", {"vectors": [_record(metadata={"text": "x" * 1_999_900})]}),
        ("/vectors/upsert", {"vectors": [_record(metadata={"text": "x" * 41_000})]}),
        ("/vectors/upsert", {"vectors": [_record(metadata={"page": None})]}),
        ("/vectors/upsert", {"vectors": [_record(values=[1.0])]}),
        ("/vectors/upsert", {"vectors": [_record(values=[0, 0, 0])]}),
        ("/vectors/upsert", {"vectors": [_record(id="x" * 513)]}),
        ("/vectors/upsert", {"vectors": [_record(id="\u00e9")]}),
        ("/vectors/upsert", {"vectors": [_record()], "batch": 1}),
        ("/query", {"vector": VECTOR, "topK": 0}),
        ("/query", {"vector": VECTOR, "topK": 10_001}),
        ("/query", {"vector": [1.0], "topK": 1}),
        ("/query", {"topK": 1}),
        ("/vectors/delete", {"filter": {"document_id": {"$in": ["x"]}}}),
        ("/vectors/delete", {"ids": [str(number) for number in range(1_001)]}),
        ("/vectors/delete", {"ids": ["a"], "deleteAll": True}),
    ],
)
def test_the_fake_refuses_what_the_service_refuses(server: PineconeServer, path: str, body: dict[str, object]) -> None:
    headers = {"Api-Key": API_KEY, "X-Pinecone-Api-Version": "2026-07"}

    response = httpx.post(server.url + path, json=body, headers=headers)

    assert response.status_code in (400, 413)
    assert response.json()["message"]


def test_the_fake_wants_a_key_and_a_version(server: PineconeServer) -> None:
    body = {"vector": VECTOR, "topK": 1}

    assert httpx.post(server.url + "/query", json=body).status_code == 401
    assert httpx.post(server.url + "/query", json=body, headers={"Api-Key": API_KEY}).status_code == 400


def test_the_fake_shows_a_write_only_after_as_many_reads_as_it_lags() -> None:
    with (
        pinecone_server(dimension=len(VECTOR), lag=2) as server,
        closing(PineconeIndex(api_key=API_KEY, host=server.url)) as index,
    ):
        write(index, refs(1))

        assert [len(ask(index)) for _ in range(3)] == [0, 0, 1]
