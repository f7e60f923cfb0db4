"""S3 and SQS by moto's server, over HTTP, set up as the template says; ``moto_server`` keeps their content on disk.

It differs from AWS: a delete marker sends no event, so the local bucket is not versioned; events carry no sequencer.
"""

import json
import logging
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from botforge_dev.local import processes
from botforge_dev.template import Template

REGION = "us-east-1"
BUCKET = "botforge-local"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": REGION}
_VISIBILITY_S = "120"  # the template's hour would make a crashed worker's message wait that long on a laptop
_START_S = 60
_WATCH_S = 0.5
_log = logging.getLogger(__name__)


class AwsError(Exception):
    """moto's server did not start; the message says where to look."""


@dataclass(slots=True)
class LocalAws:
    folder: Path  # where objects and messages are kept
    port: int
    template: Template
    log: Path
    server: subprocess.Popen[bytes] | None = field(default=None, init=False)
    queue_url: str = field(default="", init=False)
    dead_letters_url: str = field(default="", init=False)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        return boto3.client(  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownMemberType]
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 - moto checks none
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}, read_timeout=30, proxies={}),
        )

    def start(self) -> None:
        """Raises AwsError."""
        module = "botforge_dev.local.moto_server"
        options = ["--port", str(self.port), "--folder", str(self.folder), "--bucket", BUCKET]
        with self.log.open("ab") as log:
            self.server = processes.start([sys.executable, "-m", module, *options], log=log)
        self.await_answer()
        self.set_up()

    def set_up(self) -> None:
        """Queues and the bucket's notifications, as the template declares them."""
        self._create_queues()
        self._notify(self.client("s3"))

    def keep_running(self, stopping: threading.Event) -> None:
        """Start the server again whenever it has ended, until ``stopping`` is set."""
        while not stopping.wait(_WATCH_S):
            if self.server is not None and self._has_ended():
                _log.warning("S3 and SQS have ended; starting them again. See %s", self.log)
                processes.kill(self.server)
                try:
                    self.start()
                except (AwsError, BotoCoreError, ClientError) as error:
                    _log.warning("%s", error)

    def stop(self) -> None:
        if self.server is not None:
            processes.stop(self.server)

    def _has_ended(self) -> bool:
        return self.server is None or self.server.poll() is not None

    def _create_queues(self) -> None:
        sqs = self.client("sqs")
        queue = self.template.resources["IngestionQueue"]["Properties"]
        self.dead_letters_url = sqs.create_queue(QueueName="ingestion-dead-letters")["QueueUrl"]
        arn = self._arn(self.dead_letters_url)
        redrive = {"deadLetterTargetArn": arn, "maxReceiveCount": queue["RedrivePolicy"]["maxReceiveCount"]}
        attributes = {"VisibilityTimeout": _VISIBILITY_S, "RedrivePolicy": json.dumps(redrive)}
        self.queue_url = sqs.create_queue(QueueName="ingestion", Attributes=attributes)["QueueUrl"]

    def _notify(self, s3: Any) -> None:  # noqa: ANN401
        declared = self.template.resources["DocumentsBucket"]["Properties"]["NotificationConfiguration"]
        events = [configuration["Event"] for configuration in declared["QueueConfigurations"]]
        queue = {"QueueArn": self._arn(self.queue_url), "Events": events}
        s3.put_bucket_notification_configuration(
            Bucket=BUCKET, NotificationConfiguration={"QueueConfigurations": [queue]}
        )

    def _arn(self, url: str) -> str:
        attributes = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return str(attributes["Attributes"]["QueueArn"])

    def await_answer(self) -> None:
        """Raises AwsError."""
        until = time.monotonic() + _START_S
        while time.monotonic() < until and not self._has_ended():
            try:
                httpx.get(f"{self.endpoint}/moto-api/", timeout=2, trust_env=False)
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise AwsError(f"S3 and SQS (moto's server) did not come up; see {self.log}")
