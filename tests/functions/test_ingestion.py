"""The ingestion and monitor functions on events in the shapes that S3, SQS and the scheduler send."""

import io
import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from tests.conftest import TestDatabase
from tests.functions.conftest import Api, LambdaContext, s3_event

TEXT = b"The warranty of the Nimbus bicycle lasts five years."


def put(api: Api, bot: str, name: str, content: bytes = TEXT) -> None:
    api.s3.put_object(Bucket=api.bucket, Key=f"{api.user}/{bot}/{name}", Body=content)


def test_a_test_event_is_taken_and_changes_nothing(api: Api) -> None:
    assert api.deliver(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})) == {"batchItemFailures": []}


def test_only_the_messages_that_failed_are_delivered_again(api: Api) -> None:
    bot = api.create_bot()
    put(api, bot, "a.txt")
    good = json.dumps(s3_event(api.bucket, f"{api.user}/{bot}/a.txt"))
    reply = api.deliver(good, "no json", json.dumps({"Records": "x"}), json.dumps({"Records": [{}]}), good)
    assert reply == {"batchItemFailures": [{"itemIdentifier": number} for number in ("1", "2", "3")]}
    assert [document["status"] for document in api.documents(bot)] == ["indexed"]


def test_an_object_of_nobody_is_taken_and_ignored(api: Api) -> None:
    for key in ("readme.txt", f"{uuid4()}/{uuid4()}/a.txt", f"{api.user}/{uuid4()}/a.txt", "%FF"):
        assert api.deliver(json.dumps(s3_event(api.bucket, key))) == {"batchItemFailures": []}


@pytest.mark.parametrize(
    ("name", "content", "status", "reason"),
    [
        ("empty.txt", b"", "failed", "empty"),
        ("blank.md", b"\n \n", "failed", "empty"),
        ("program.exe", b"MZ", "rejected", "unsupported_type"),
        ("lying.pdf", b"<html><body>not found</body></html>", "rejected", "content_mismatch"),
        ("broken.pdf", b"%PDF-1.7 and no more", "failed", "corrupt"),
        ("broken.json", b'{"a": ', "failed", "corrupt"),
        ("../x.txt", TEXT, "rejected", "invalid_name"),
    ],
)
def test_what_cannot_be_indexed_says_why(api: Api, name: str, content: bytes, status: str, reason: str) -> None:
    bot = api.create_bot()
    put(api, bot, name, content)
    assert api.ingest(bot, name) == {"batchItemFailures": []}
    (document,) = api.documents(bot)
    assert (document["status"], document["reason"]) == (status, reason)
    assert document["detail"]


def test_the_last_attempt_marks_the_document_failed_and_leaves_the_message_to_the_dead_letters(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = api.create_bot()
    put(api, bot, "a.txt")
    monkeypatch.setenv("BUCKET", f"bucket-{uuid4()}")  # the function's bucket is not there
    assert api.ingest(bot, "a.txt", receives=1)["batchItemFailures"] == [{"itemIdentifier": "0"}]
    assert [(d["status"], d["reason"]) for d in api.documents(bot)] == [("pending", None)]
    assert api.ingest(bot, "a.txt", receives=5)["batchItemFailures"] == [{"itemIdentifier": "0"}]
    assert [(d["status"], d["reason"]) for d in api.documents(bot)] == [("failed", "retries_exhausted")]


def test_events_of_a_versioned_bucket_are_ordered_by_their_sequencer(api: Api) -> None:
    bot = api.create_bot()
    put(api, bot, "a.txt")
    api.ingest(bot, "a.txt", sequencer="0A")
    api.s3.delete_object(Bucket=api.bucket, Key=f"{api.user}/{bot}/a.txt")
    api.ingest(bot, "a.txt", event="ObjectRemoved:DeleteMarkerCreated", sequencer="0C")
    assert api.documents(bot) == []
    api.ingest(bot, "a.txt", sequencer="0A")  # delivered again, late
    assert api.documents(bot) == []


def test_one_id_leads_from_the_upload_to_the_workers_log(api: Api, logged: io.StringIO) -> None:
    bot = api.create_bot()
    api.upload(bot, "a.txt", TEXT)
    api.ingest(bot, "a.txt")
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert [line["correlation_id"] for line in lines if line.get("outcome") == "indexed"] == ["request-1"]


def test_logs_hold_no_text_of_documents_or_questions(
    api: Api, logged: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = api.create_bot()
    api.upload(bot, "a.txt", TEXT)
    api.ingest(bot, "a.txt")
    api.ask(bot, "How long does the warranty of the Nimbus bicycle last?")
    told = logged.getvalue() + capsys.readouterr().out
    assert '"outcome"' in told
    assert '"stage_ms"' in told
    for secret in ("Nimbus", "warranty", "only-for-tests"):
        assert secret not in told


def metrics_of(logged: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in logged.splitlines():
        if '"_aws"' in line:
            found |= json.loads(line)
    return found


def test_metrics_tell_how_documents_and_queries_went(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    bot = api.create_bot()
    api.upload(bot, "a.txt", TEXT)
    capsys.readouterr()
    api.ingest(bot, "a.txt")
    ingested = metrics_of(capsys.readouterr().out)
    api.ask(bot, "How long does the warranty of the Nimbus bicycle last?")
    asked = metrics_of(capsys.readouterr().out)
    assert any("lag" in name.lower() for name in ingested)
    assert any("relevance" in name.lower() for name in asked)
    assert any("latency" in name.lower() for name in asked)


def test_the_monitor_purges_a_deleted_bot_from_bucket_index_and_tables(
    api: Api, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = api.create_bot()
    api.upload(bot, "a.txt", TEXT)
    api.ingest(bot, "a.txt")
    api.call("DELETE", f"/api/bots/{bot}")
    monkeypatch.setenv("DATABASE_URL", database.worker)
    result = api.handler("monitor")({"detail-type": "Scheduled Event"}, LambdaContext("monitor"))
    assert (result["bots_purged"], result["purges_failed"]) == (1, 0)
    assert "Contents" not in api.s3.list_objects_v2(Bucket=api.bucket)
    with psycopg.connect(database.owner) as owner:
        for table in ("bots", "documents", "chunks", "chunk_vectors", "queries"):
            count = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
            assert owner.execute(count).fetchone() == (0,), table
