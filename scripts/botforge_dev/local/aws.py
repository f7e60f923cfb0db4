"""S3 and SQS by moto's server, over HTTP, set up as the template says; objects kept on disk from run to run.

moto holds everything in memory. Every object is therefore mirrored to disk when its event arrives, before anything
else is done with it, and put back at the next start before the bucket sends events again.

It differs from AWS: a delete marker sends no event, so the local bucket is not versioned; events carry no sequencer.
"""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import ClientError

from botforge_dev.local import processes
from botforge_dev.template import Template

REGION = "us-east-1"
BUCKET = "botforge-local"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": REGION}
_VISIBILITY_S = "120"  # the template's hour would make a crashed worker's message wait that long on a laptop
_START_S = 60


@dataclass(slots=True)
class LocalAws:
    folder: Path  # where objects are mirrored
    port: int
    template: Template
    log: Path
    _server: subprocess.Popen[bytes] | None = field(default=None, init=False)
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
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}, read_timeout=30),
        )

    def start(self) -> None:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        with self.log.open("ab") as log:
            self._server = processes.start(command, log=log)
        self._await()
        self._create_queues()
        s3 = self.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        self._restore(s3)
        self._notify(s3)

    def stop(self) -> None:
        if self._server is not None:
            processes.stop(self._server)

    def mirror(self, body: str) -> None:
        """Keep on disk what the events of a queue message say has changed."""
        for record in json.loads(body).get("Records", []):
            key = unquote_plus(record["s3"]["object"]["key"])
            path = self.folder / _file_name(key)
            try:
                found = self.client("s3").get_object(Bucket=BUCKET, Key=key)
            except ClientError:
                path.unlink(missing_ok=True)
                path.with_suffix(".json").unlink(missing_ok=True)
                continue
            described = {"key": key, "content_type": found["ContentType"], "metadata": found["Metadata"]}
            path.write_bytes(found["Body"].read())
            path.with_suffix(".json").write_text(json.dumps(described), encoding="utf-8")

    def _restore(self, s3: Any) -> None:  # noqa: ANN401
        for described, body in self._mirrored():
            s3.put_object(
                Bucket=BUCKET,
                Key=described["key"],
                Body=body,
                ContentType=described["content_type"],
                Metadata=described["metadata"],
            )

    def _mirrored(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.folder.glob("*.json")):
            yield json.loads(file.read_text(encoding="utf-8")), file.with_suffix("").read_bytes()

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

    def _await(self) -> None:
        until = time.monotonic() + _START_S
        while time.monotonic() < until:
            try:
                httpx.get(f"{self.endpoint}/moto-api/", timeout=2)
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise TimeoutError(f"moto's server did not come up within {_START_S} s; see {self.log}")


def _file_name(key: str) -> str:
    """Keys may be longer than file names, and hold what no file name can."""
    return hashlib.sha256(key.encode("utf-8")).hexdigest()
