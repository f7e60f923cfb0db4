"""A batch of SQS messages, of which only those that failed are delivered again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    body: str
    receipt_handle: str
    receive_count: int  # this delivery included


def messages(event: dict[str, Any]) -> list[Message]:
    """The messages of a Lambda event from SQS. Raises KeyError for an event that is none."""
    return [
        Message(
            id=record["messageId"],
            body=record["body"],
            receipt_handle=record["receiptHandle"],
            receive_count=int(record.get("attributes", {}).get("ApproximateReceiveCount", 1)),
        )
        for record in event["Records"]
    ]


def handle_batch(
    event: dict[str, Any], handle: Callable[[Message], None], on_error: Callable[[Message, Exception], None]
) -> dict[str, list[dict[str, str]]]:
    """Handle every message; the reply names those that raised, and SQS delivers those alone again.

    A message that fails must not take its neighbours along, so any exception counts
    (AWS Lambda, "Reporting batch item failures").
    """
    failures: list[dict[str, str]] = []
    for message in messages(event):
        try:
            handle(message)
        except Exception as error:  # noqa: BLE001 - whatever it was, the queue will try again
            on_error(message, error)
            failures.append({"itemIdentifier": message.id})
    return {"batchItemFailures": failures}
