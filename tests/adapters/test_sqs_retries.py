"""A message that failed comes back soon, on a real queue over HTTP."""

import pytest
from tests.fakes.s3_server import s3_server

from botforge.adapters.queue.sqs import SqsRetries, pause_after


def test_pauses_grow_and_end_within_the_quarter_of_an_hour() -> None:
    assert [pause_after(count) for count in range(1, 6)] == [15, 60, 240, 900, 900]


def test_a_message_is_visible_again_when_its_worker_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3

    with s3_server() as url:
        for name, value in {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
        sqs = boto3.client("sqs")  # pyright: ignore[reportUnknownMemberType]
        queue = sqs.create_queue(QueueName="ingestion", Attributes={"VisibilityTimeout": "3600"})["QueueUrl"]
        sqs.send_message(QueueUrl=queue, MessageBody="event")
        (received,) = sqs.receive_message(QueueUrl=queue).get("Messages", [])
        assert "Messages" not in sqs.receive_message(QueueUrl=queue)
        assert SqsRetries(queue).again_after(received.get("ReceiptHandle", ""), 0)
        assert len(sqs.receive_message(QueueUrl=queue).get("Messages", [])) == 1
        assert not SqsRetries(queue).again_after("no such handle", 0)
