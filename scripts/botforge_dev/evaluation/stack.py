"""The product that is evaluated: one that runs already, or a local stack of its own."""

import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import jwt

from botforge_dev.evaluation.product import Product
from botforge_dev.local import processes
from botforge_dev.local.supervisor import LocalStack

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_TIMEOUT_S = 35


@dataclass(frozen=True, slots=True)
class S3Bucket:
    client: "S3Client"
    name: str

    def put(self, key: str, body: bytes, content_type: str) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=body, ContentType=content_type)


def progress(line: str) -> None:
    """Progress goes to standard error: standard output belongs to the figures."""
    print(f"  {line}", file=sys.stderr, flush=True)


@contextmanager
def running(url: str, token: str, report: Callable[[str], None] = progress) -> Generator[Product]:
    """The product at ``url``, as the user whom the token names."""
    user = str(jwt.decode(token, options={"verify_signature": False})["sub"])
    with _api(url, token) as api:
        yield Product(api, user, None, report)


@contextmanager
def own_stack(report: Callable[[str], None] = progress) -> Generator[Product]:
    """A fresh local stack, gone with everything in it afterwards."""
    with tempfile.TemporaryDirectory(prefix="botforge-evaluation-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with (
            LocalStack(folder, processes.free_port(), lambda what: report(f"starting: {what}")) as stack,
            _api(stack.url, stack.description["token"]) as api,
        ):
            yield Product(api, stack.description["user"], _bucket(stack.description), report)


def _bucket(described: dict[str, Any]) -> S3Bucket:
    client: S3Client = boto3.client(  # pyright: ignore[reportUnknownMemberType]
        "s3",
        endpoint_url=described["endpoints"]["s3"],
        region_name=described["region"],
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - moto checks none
    )
    return S3Bucket(client, described["bucket"])


def _api(url: str, token: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT_S, trust_env=False)
