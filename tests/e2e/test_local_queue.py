"""S3 and SQS as the local stack runs them: durable across crashes, and delivered as Lambda's event sources do."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from botforge_dev.local import processes
from botforge_dev.local.aws import BUCKET, LocalAws
from botforge_dev.local.environments import Function, FunctionSpec
from botforge_dev.local.sources import QueuePoller, failures_of, in_thread
from botforge_dev.template import Template

ROOT = Path(__file__).resolve().parents[2]
_PAST_ALL_RETRIES_S = 90
_HANDLER = '''
import json, os

def handler(event, context):
    """Notes what it was given; fails for messages that say so."""
    failures = []
    for record in event["Records"]:
        with open("handled.jsonl", "a") as file:
            file.write(json.dumps(record) + chr(10))
        if "crash" in record["body"]:
            os._exit(1)
        if "poison" in record["body"]:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}
'''


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    folder = tmp_path_factory.mktemp("aws")
    server = LocalAws(folder / "data", processes.free_port(), Template(ROOT / "template.yaml"), folder / "aws.log")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def aws(running: LocalAws) -> LocalAws:
    """An empty bucket and empty queues, set up as the template says."""
    s3, sqs = running.client("s3"), running.client("sqs")
    s3.put_bucket_notification_configuration(Bucket=BUCKET, NotificationConfiguration={})
    for entry in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3.delete_object(Bucket=BUCKET, Key=entry["Key"])
    for url in (running.queue_url, running.dead_letters_url):
        sqs.delete_queue(QueueUrl=url)
    running.set_up()
    return running


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    folder = tmp_path / "function"
    folder.mkdir()
    (folder / "app.py").write_text(_HANDLER)
    spec = FunctionSpec("ingestion", folder, "app.handler", timeout_s=20, memory_mb=128, variables={})
    function = Function(spec, tmp_path / "function.log")
    try:
        yield function
    finally:
        function.close()


@pytest.fixture
def polled(aws: LocalAws, function: Function) -> Iterator[Path]:
    """What the function was given, one record a line."""
    stopping = threading.Event()
    thread = in_thread(QueuePoller(aws, function, 10, stopping).run, "poller")
    try:
        yield function.spec.folder / "handled.jsonl"
    finally:
        stopping.set()
        thread.join()


def _records(file: Path, holding: str, count: int, timeout_s: float = 60) -> list[dict[str, Any]]:
    """Wait until so many records whose body holds a text were handled."""
    tick = threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        lines = file.read_text().splitlines() if file.exists() else []
        found = [record for record in map(json.loads, lines) if holding in record["body"]]
        if len(found) >= count:
            return found
        tick.wait(0.05)
    raise AssertionError(f"{holding} was not handled {count} times within {timeout_s} s")


def _crash(aws: LocalAws) -> None:
    """End the server at once, and start it again over what it has left."""
    assert aws.server is not None
    os.kill(aws.server.pid, signal.SIGKILL)
    aws.stop()
    aws.start()


def _queued(aws: LocalAws) -> list[str]:
    received = aws.client("sqs").receive_message(QueueUrl=aws.queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
    return [message["Body"] for message in received.get("Messages", [])]


def _await_empty(aws: LocalAws, timeout_s: float = 60) -> None:
    """Wait until the queue holds no message, nor one in flight."""
    names: list[Any] = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    tick = threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        held = aws.client("sqs").get_queue_attributes(QueueUrl=aws.queue_url, AttributeNames=names)["Attributes"]
        if not any(int(held[name]) for name in names):
            return
        tick.wait(0.05)
    raise AssertionError(f"the queue was not empty within {timeout_s} s")


def test_objects_survive_a_crash_as_they_were(aws: LocalAws) -> None:
    s3 = aws.client("s3")
    s3.put_object(Bucket=BUCKET, Key="a/b c+ü.txt", Body=b"text", ContentType="text/plain", Metadata={"who": "me"})
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="large", ContentType="application/pdf")["UploadId"]
    bodies = [b"x" * 5 * 1024 * 1024, b"y"]
    parts = [
        s3.upload_part(Bucket=BUCKET, Key="large", UploadId=upload, PartNumber=number, Body=body) | {"n": number}
        for number, body in enumerate(bodies, 1)
    ]
    listed = {"Parts": [{"ETag": part["ETag"], "PartNumber": part["n"]} for part in parts]}
    s3.complete_multipart_upload(Bucket=BUCKET, Key="large", UploadId=upload, MultipartUpload=listed)
    s3.put_object(Bucket=BUCKET, Key="deleted", Body=b"")
    s3.delete_object(Bucket=BUCKET, Key="deleted")
    before = {key: s3.head_object(Bucket=BUCKET, Key=key) for key in ("a/b c+ü.txt", "large")}
    _crash(aws)
    keys = [entry["Key"] for entry in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
    assert keys == list(before)
    for key, was in before.items():
        now = s3.head_object(Bucket=BUCKET, Key=key)
        for field in ("ETag", "ContentType", "Metadata", "ContentLength", "LastModified"):
            assert now[field] == was[field], (key, field)
    assert s3.get_object(Bucket=BUCKET, Key="large")["Body"].read() == b"".join(bodies)


def test_what_was_put_right_before_a_crash_is_still_to_be_ingested(aws: LocalAws) -> None:
    aws.client("s3").put_object(Bucket=BUCKET, Key="fresh", Body=b"1")
    aws.client("s3").put_object(Bucket=BUCKET, Key="gone", Body=b"1")
    aws.client("s3").delete_object(Bucket=BUCKET, Key="gone")
    _crash(aws)
    events = [record["eventName"] for body in _queued(aws) for record in json.loads(body).get("Records", [])]
    assert sorted(events) == ["ObjectCreated:Put", "ObjectCreated:Put", "ObjectRemoved:Delete"]


def test_what_was_ingested_before_a_crash_is_not_ingested_again(aws: LocalAws, polled: Path) -> None:
    aws.client("s3").put_object(Bucket=BUCKET, Key="known", Body=b"1")
    _records(polled, "known", 1)
    _await_empty(aws)  # what was handled and not yet deleted is delivered again, as it should
    _crash(aws)
    aws.client("s3").put_object(Bucket=BUCKET, Key="next", Body=b"1")
    _records(polled, "next", 1)
    assert len(_records(polled, "known", 1)) == 1


def test_a_message_in_flight_keeps_its_count_of_receives_over_a_crash(aws: LocalAws) -> None:
    sqs = aws.client("sqs")
    sqs.send_message(QueueUrl=aws.queue_url, MessageBody="marked")
    assert "marked" in _queued(aws)
    _crash(aws)
    received = sqs.receive_message(
        QueueUrl=aws.queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=1, AttributeNames=["All"]
    )["Messages"]
    counts = {message["Body"]: message["Attributes"]["ApproximateReceiveCount"] for message in received}
    assert counts["marked"] == "2"


def test_a_server_that_ends_is_started_again(aws: LocalAws) -> None:
    stopping = threading.Event()
    thread = in_thread(lambda: aws.keep_running(stopping), "watch")
    try:
        aws.client("s3").put_object(Bucket=BUCKET, Key="kept", Body=b"1")
        assert aws.server is not None
        first = aws.server.pid
        os.kill(first, signal.SIGKILL)
        tick = threading.Event()
        while aws.server.pid == first:
            tick.wait(0.05)
        aws.await_answer()
        assert aws.client("s3").get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"1"
    finally:
        stopping.set()
        thread.join()


def test_an_event_reaches_the_function_in_lambdas_shape(aws: LocalAws, polled: Path) -> None:
    aws.client("s3").put_object(Bucket=BUCKET, Key="u/b/file name.txt", Body=b"1")
    (record,) = _records(polled, "ObjectCreated", 1)
    assert record["eventSource"] == "aws:sqs"
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert json.loads(record["body"])["Records"][0]["s3"]["bucket"]["name"] == BUCKET


def test_a_poison_message_ends_in_the_dead_letters_and_its_neighbour_does_not(aws: LocalAws, polled: Path) -> None:
    sqs = aws.client("sqs")
    attributes = {"RedrivePolicy": json.dumps({"deadLetterTargetArn": _dead_letters(aws), "maxReceiveCount": 3})}
    sqs.set_queue_attributes(QueueUrl=aws.queue_url, Attributes=attributes)
    entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(("poison", "harmless", "not JSON {"))]
    sqs.send_message_batch(QueueUrl=aws.queue_url, Entries=entries)
    assert _dead(aws) == ["poison"]
    assert len(_records(polled, "poison", 3)) == 3
    assert len(_records(polled, "harmless", 1)) == 1


def test_a_message_that_kills_the_worker_ends_in_the_dead_letters_too(aws: LocalAws, polled: Path) -> None:
    sqs = aws.client("sqs")
    attributes = {"RedrivePolicy": json.dumps({"deadLetterTargetArn": _dead_letters(aws), "maxReceiveCount": 2})}
    sqs.set_queue_attributes(QueueUrl=aws.queue_url, Attributes=attributes)
    sqs.send_message(QueueUrl=aws.queue_url, MessageBody="crash")
    assert _dead(aws) == ["crash"]
    sqs.send_message(QueueUrl=aws.queue_url, MessageBody="harmless")
    assert len(_records(polled, "harmless", 1)) == 1


def test_the_queue_has_the_templates_number_of_tries(aws: LocalAws) -> None:
    declared = aws.template.resources["IngestionQueue"]["Properties"]["RedrivePolicy"]["maxReceiveCount"]
    found = aws.client("sqs").get_queue_attributes(QueueUrl=aws.queue_url, AttributeNames=["RedrivePolicy"])
    assert int(json.loads(found["Attributes"]["RedrivePolicy"])["maxReceiveCount"]) == declared >= 5


_REPLIES: list[tuple[object, list[str]]] = [
    (None, []),
    ({}, []),
    ({"batchItemFailures": []}, []),
    ({"batchItemFailures": None}, []),
    ({"batchItemFailures": [{"itemIdentifier": "a"}]}, ["a"]),
    ({"batchItemFailures": [{"itemIdentifier": ""}]}, ["a", "b"]),
    ({"batchItemFailures": [{"itemIdentifier": "a"}, {"itemIdentifier": "unknown"}]}, ["a", "b"]),
    ({"batchItemFailures": [{"id": "a"}]}, ["a", "b"]),
    ({"batchItemFailures": ["a"]}, ["a", "b"]),
    ("done", ["a", "b"]),
]


@pytest.mark.parametrize(("reply", "failed"), _REPLIES, ids=str)
def test_a_reply_says_what_failed_by_lambdas_rules(reply: object, failed: list[str]) -> None:
    assert failures_of(reply, {"a", "b"}) == set(failed)


def _dead_letters(aws: LocalAws) -> str:
    found = aws.client("sqs").get_queue_attributes(QueueUrl=aws.dead_letters_url, AttributeNames=["QueueArn"])
    return str(found["Attributes"]["QueueArn"])


def _dead(aws: LocalAws) -> list[str]:
    for _ in range(_PAST_ALL_RETRIES_S // 10):
        received = aws.client("sqs").receive_message(QueueUrl=aws.dead_letters_url, WaitTimeSeconds=10)
        if "Messages" in received:
            return [message["Body"] for message in received["Messages"]]
    return []
