"""Presigned links: signed as S3's own client would, without it."""

from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from botforge.adapters.storage.links import S3Links
from botforge.adapters.storage.s3 import s3_client
from botforge.domain.errors import ObjectStoreUnavailable
from botforge.domain.ids import BotId, ObjectKey, UserId

KEY = ObjectKey(UserId(UUID(int=1)), BotId(UUID(int=2)), "a folder/größe+1~2 #3?.pdf")


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session/token+1=")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")


def by_the_client(endpoint: str | None = None) -> str:
    parameters = {"Bucket": "some-bucket", "Key": str(KEY)}
    client = s3_client(endpoint=endpoint)
    return client.generate_presigned_url("get_object", Params=parameters, ExpiresIn=900)


def parts(url: str) -> tuple[str, str, str, dict[str, list[str]]]:
    split = urlsplit(url)
    return split.scheme, split.netloc, split.path, parse_qs(split.query)


def same_second(endpoint: str | None = None) -> tuple[str, str]:
    """A link of ours and one of the client's that carry the same date: a signature depends on it."""
    while True:
        ours, theirs = S3Links("some-bucket").link(KEY).url, by_the_client(endpoint)
        if parts(ours)[3]["X-Amz-Date"] == parts(theirs)[3]["X-Amz-Date"]:
            return ours, theirs


@pytest.mark.parametrize("region", ["eu-west-1", "us-gov-west-1", "cn-north-1"])
def test_a_link_is_the_one_that_the_client_would_sign(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    ours, theirs = same_second()
    assert parts(ours) == parts(theirs)


def test_at_an_endpoint_of_ones_own_the_bucket_stands_in_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    ours, theirs = same_second("http://127.0.0.1:4566")
    assert parts(ours) == parts(theirs)


def test_a_link_says_how_long_it_lives() -> None:
    link = S3Links("some-bucket", expires_in=60).link(KEY)
    assert (link.expires_in, parts(link.url)[3]["X-Amz-Expires"]) == (60, ["60"])


def test_without_credentials_there_is_no_link_and_nobody_is_asked_for_any(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with pytest.raises(ObjectStoreUnavailable) as raised:
        S3Links("some-bucket").link(KEY)
    assert raised.value.code == "links_unavailable"
