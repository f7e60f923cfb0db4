"""An SQS message that carries an S3 notification.

Shapes: Amazon S3 User Guide, "Event message structure". A key is URL-encoded once, with ``+`` for a space.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast
from urllib.parse import unquote_plus

from botforge.domain.ingestion import ObjectEvent

_HANDLED = ("ObjectCreated:", "ObjectRemoved:", "LifecycleExpiration:")


class UnreadableMessage(ValueError):
    """A message that is no S3 notification. Reading it again would not help; the queue's DLQ keeps it."""


def object_events(body: str) -> Iterator[ObjectEvent]:
    """The events of one message's body. ``s3:TestEvent``, and events that change no object, yield nothing.

    Raises UnreadableMessage.
    """
    try:
        notification = json.loads(body)
    except ValueError as error:
        raise UnreadableMessage("the body is not JSON") from error
    if not isinstance(notification, dict):
        raise UnreadableMessage("the body is not an object")
    notification = cast("dict[str, Any]", notification)
    if notification.get("Event") == "s3:TestEvent":
        return
    records = notification.get("Records")
    if not isinstance(records, list):
        raise UnreadableMessage("the body has no list of Records")
    for record in cast("list[Any]", records):
        try:
            if str(record["eventName"]).removeprefix("s3:").startswith(_HANDLED):
                yield _object_event(record)
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableMessage("a record is not shaped like an S3 event") from error


def _object_event(record: dict[str, Any]) -> ObjectEvent:
    described = record["s3"]["object"]
    sequencer = described.get("sequencer")
    if sequencer is not None:
        int(sequencer, 16)  # hexadecimal, or it is no sequencer
    return ObjectEvent(
        key=unquote_plus(described["key"], errors="strict"),
        sequencer=sequencer,
        event_time=_moment(record.get("eventTime")),
        request_id=record.get("responseElements", {}).get("x-amz-request-id"),
    )


def _moment(text: str | None) -> datetime | None:
    moment = datetime.fromisoformat(text) if text else None
    return moment if moment is not None and moment.tzinfo is not None else None
