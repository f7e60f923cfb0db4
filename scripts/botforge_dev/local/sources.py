"""What invokes functions besides HTTP: the queue's event source mapping, and schedules."""

import logging
import queue
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from botforge_dev.local.aws import REGION, LocalAws
from botforge_dev.local.environments import Function, TimedOut
from botforge_dev.local.runtime_api import FunctionError

_WAIT_S = 1  # of a long poll: how long a stop may take
_LONGEST_SCHEDULE_S = 20.0  # nobody waits five minutes on a laptop
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueuePoller:
    """Long-polls the queue, invokes the function with batches, deletes what did not fail.

    What failed becomes visible again after its timeout, and goes to the dead letters after ``maxReceiveCount``, both
    of which the queue itself does.
    """

    aws: LocalAws
    function: Function
    batch_size: int
    stopping: threading.Event

    def run(self) -> None:
        sqs = self.aws.client("sqs")
        while not self.stopping.is_set():
            try:
                received = sqs.receive_message(
                    QueueUrl=self.aws.queue_url,
                    MaxNumberOfMessages=self.batch_size,
                    WaitTimeSeconds=_WAIT_S,
                    AttributeNames=["All"],
                ).get("Messages", [])
                if received:
                    self._deliver(sqs, received)
            except (BotoCoreError, ClientError):
                if not self.stopping.wait(0.5):
                    _log.warning("the queue does not answer; trying again")

    def _deliver(self, sqs: Any, received: list[dict[str, Any]]) -> None:  # noqa: ANN401
        sent = {message["MessageId"] for message in received}
        try:
            failed = failures_of(self.function.invoke({"Records": [_record(message) for message in received]}), sent)
        except (FunctionError, TimedOut, queue.Empty) as error:
            if self.stopping.is_set():
                return
            _log.warning("%s failed: %s", self.function.spec.name, error)
            failed = sent
        done = [message for message in received if message["MessageId"] not in failed]
        if done:
            entries = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]} for n, message in enumerate(done)]
            sqs.delete_message_batch(QueueUrl=self.aws.queue_url, Entries=entries)
        for message in received:
            if message["MessageId"] in failed:
                # A laptop's user watches: the next try comes soon, and the wait doubles with every failure.
                receives = int(message["Attributes"]["ApproximateReceiveCount"])
                sqs.change_message_visibility(
                    QueueUrl=self.aws.queue_url,
                    ReceiptHandle=message["ReceiptHandle"],
                    VisibilityTimeout=min(60, 2**receives),
                )


def failures_of(reply: Any, sent: set[str]) -> set[str]:  # noqa: ANN401 - any JSON
    """Ids of the messages that are to be delivered again, by the rules of AWS Lambda ("Reporting batch item failures").

    An empty reply or an empty list is success; an id that is empty or was not sent, or a reply of another shape, makes
    the whole batch a failure.
    """
    if reply is None or reply == {}:
        return set()
    if not isinstance(reply, dict):
        return sent
    failures: Any = cast("dict[str, Any]", reply).get("batchItemFailures")
    if failures is None:
        return set()
    try:
        failed = {failure["itemIdentifier"] for failure in failures}
    except (TypeError, KeyError):
        return sent
    if not failed <= sent:
        return sent
    return failed


@dataclass(frozen=True, slots=True)
class Schedule:
    function: Function
    every_s: float
    name: str
    stopping: threading.Event

    def run(self) -> None:
        while not self.stopping.wait(self.every_s):
            event: dict[str, Any] = {
                "version": "0",
                "id": str(uuid4()),
                "detail-type": "Scheduled Event",
                "source": "aws.events",
                "account": "000000000000",
                "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "region": REGION,
                "resources": [f"arn:aws:events:{REGION}:000000000000:rule/{self.name}"],
                "detail": {},
            }
            try:
                self.function.invoke(event)
            except (FunctionError, TimedOut, queue.Empty) as error:
                if not self.stopping.is_set():
                    _log.warning("%s failed: %s", self.name, error)


def seconds_of(expression: str) -> float:
    """The period of ``rate(5 minutes)``, shortened for a laptop. Raises ValueError for a cron expression."""
    found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression)
    if found is None:
        raise ValueError(f"only rate(...) schedules run locally, not {expression}")
    unit = {"minute": 60, "hour": 3600, "day": 86_400}[found[2]]
    return min(_LONGEST_SCHEDULE_S, float(found[1]) * unit)


def in_thread(run: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def _record(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {},
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:ingestion",
        "awsRegion": REGION,
    }
