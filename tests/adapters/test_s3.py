"""What only S3 can show: versions, the faults of its API, and what a presigned form allows."""

import base64
import hashlib
import hmac
import json
from collections.abc import Generator
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4
from xml.etree import ElementTree as ET

import boto3
import httpx
import pytest
from botocore.config import Config
from tests.fakes.s3_server import new_bucket, s3_server
from tests.fakes.scripted_http import Drop, Reply, ScriptedHttp, scripted_http

from botforge.adapters.storage.s3 import S3ObjectStore, s3_client
from botforge.domain.errors import InvalidRequest, ObjectStoreUnavailable
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.ports.objects import PresignedPost

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

SECRET = "local-secret"
KEY = ObjectKey(UserId(UUID(int=1)), BotId(UUID(int=2)), "a+b 😀.txt")


@pytest.fixture(scope="module", autouse=True)
def _credentials() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "local")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        yield


@pytest.fixture(scope="module")
def client() -> "Generator[S3Client]":
    with s3_server() as url:
        yield s3_client(endpoint=url, region="us-east-1")


@pytest.fixture
def server() -> Generator[ScriptedHttp]:
    with scripted_http() as http:
        yield http


@pytest.fixture
def scripted(server: ScriptedHttp) -> S3ObjectStore:
    """A store whose answers the test writes, with one attempt a call."""
    client: S3Client = boto3.Session().client(  # pyright: ignore[reportUnknownMemberType]
        "s3",
        endpoint_url=server.url,
        region_name="us-east-1",
        config=Config(read_timeout=0.5, retries={"mode": "standard", "total_max_attempts": 1}),
    )
    return S3ObjectStore("documents", client=client)


def error(status: int, code: str) -> Reply:
    return Reply(status, f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode())


# ---------------------------------------------------------------- absence and refusal


def test_a_missing_bucket_is_never_taken_for_a_missing_document(client: "S3Client") -> None:
    store = S3ObjectStore("no-such-bucket", client=client)

    for call in (lambda: store.head(KEY), lambda: store.get(KEY, max_bytes=1), lambda: store.delete(KEY)):
        with pytest.raises(ObjectStoreUnavailable) as raised:
            call()
        assert raised.value.code == "object_store_misconfigured"


def test_a_refusal_is_not_absence(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    server.replies += [Reply(403), error(403, "AccessDenied")]

    for call in (lambda: scripted.head(KEY), lambda: scripted.get(KEY, max_bytes=1)):
        with pytest.raises(ObjectStoreUnavailable) as raised:
            call()
        assert raised.value.code == "object_store_denied"


def test_a_document_that_appears_between_head_and_get_is_told(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    server.replies += [Reply(404), Reply(200, b"hello", {"ETag": '"abc"', "Content-Type": "text/plain"})]

    info = scripted.head(KEY)

    assert info is not None
    assert (info.size, info.etag) == (5, "abc")


@pytest.mark.parametrize("fault", [error(500, "InternalError"), error(503, "SlowDown"), Reply(200, b"<html>"), Drop()])
def test_a_store_that_answers_nonsense_is_unavailable(
    server: ScriptedHttp, scripted: S3ObjectStore, fault: Reply | Drop
) -> None:
    server.replies.append(fault)

    with pytest.raises(ObjectStoreUnavailable):
        list(scripted.list_keys(KEY.user_id, KEY.bot_id))


def test_a_store_that_hangs_is_unavailable(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    server.replies.clear()

    with pytest.raises(ObjectStoreUnavailable):
        scripted.put(KEY, b"x", content_type="text/plain", correlation_id="r")


@pytest.mark.parametrize("max_bytes", [6, 8, 100])
def test_a_body_that_breaks_off_is_unavailable_and_not_a_shorter_document(
    server: ScriptedHttp, scripted: S3ObjectStore, max_bytes: int
) -> None:
    server.replies.append(Reply(200, b"half", {"ETag": '"abc"', "Content-Length": "8"}))

    with pytest.raises(ObjectStoreUnavailable):
        scripted.get(KEY, max_bytes=max_bytes)


def test_a_body_whose_checksum_differs_is_unavailable(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    server.replies.append(Reply(200, b"hello", {"ETag": '"abc"', "x-amz-checksum-crc32": "AAAAAA=="}))

    with pytest.raises(ObjectStoreUnavailable):
        scripted.get(KEY, max_bytes=100)


def test_a_passing_fault_is_tried_again(server: ScriptedHttp) -> None:
    server.replies += [error(503, "SlowDown"), Reply(200, headers={"ETag": '"abc"'})]

    S3ObjectStore("documents", client=s3_client(endpoint=server.url, region="us-east-1")).put(
        KEY, b"x", content_type="text/plain", correlation_id="r"
    )

    assert len(server.requests) == 2


def test_a_call_ends_within_the_deadline_of_a_request() -> None:
    config: Any = s3_client(region="us-east-1").meta.config
    attempts = config.retries["total_max_attempts"]
    longest_pauses = sum(2**attempt for attempt in range(attempts - 1))  # botocore: rand(0, 1) * 2 ** attempt

    assert attempts * (config.connect_timeout + config.read_timeout) + longest_pauses < 25


# ---------------------------------------------------------------- versions


def test_deleting_a_namespace_takes_every_version_and_delete_marker(client: "S3Client") -> None:
    name = f"bucket-{uuid4()}"
    new_bucket(client, name, versioned=True)
    store = S3ObjectStore(name, client=client)
    for body in (b"1", b"2", b"3"):
        store.put(KEY, body, content_type="text/plain", correlation_id="r")
    store.delete(KEY)

    assert store.delete_namespace(KEY.user_id, KEY.bot_id) == 3

    left = client.list_object_versions(Bucket=name)
    assert left.get("Versions", []) == []
    assert left.get("DeleteMarkers", []) == []


def test_every_version_counts_however_many_pages_there_are(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    prefix = f"{KEY.user_id}/{KEY.bot_id}/"
    pages = [[f"{prefix}{page}-{number}" for number in range(1_000)] for page in range(2)]
    server.replies += [
        Reply(200, versions(pages[0], more=True)),
        Reply(200, b"<DeleteResult/>"),
        Reply(200, versions(pages[1])),
        Reply(200, b"<DeleteResult/>"),
    ]

    assert scripted.delete_namespace(KEY.user_id, KEY.bot_id) == 2_000

    sent = [deleted_keys(request.body) for request in server.requests if request.method == "POST"]
    assert sent == pages


def test_a_key_that_xml_cannot_hold_does_not_spoil_its_batch(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    prefix = f"{KEY.user_id}/{KEY.bot_id}/"
    server.replies += [
        Reply(200, versions([f"{prefix}bell%07.txt", f"{prefix}plain.txt"])),
        Reply(204),
        Reply(200, b"<DeleteResult/>"),
    ]

    assert scripted.delete_namespace(KEY.user_id, KEY.bot_id) == 2

    alone, batch = server.requests[1:]
    assert (alone.method, alone.path.split("?")[0]) == ("DELETE", f"/documents/{prefix}bell%07.txt")
    assert deleted_keys(batch.body) == [f"{prefix}plain.txt"]


def test_a_version_that_could_not_be_deleted_is_an_error(server: ScriptedHttp, scripted: S3ObjectStore) -> None:
    key = f"{KEY.user_id}/{KEY.bot_id}/locked.txt"
    refusal = f"<DeleteResult><Error><Key>{key}</Key><Code>AccessDenied</Code></Error></DeleteResult>"
    server.replies += [Reply(200, versions([key])), Reply(200, refusal.encode())]

    with pytest.raises(ObjectStoreUnavailable) as raised:
        scripted.delete_namespace(KEY.user_id, KEY.bot_id)

    assert raised.value.code == "object_store_denied"


def versions(keys: list[str], *, more: bool = False) -> bytes:
    items = "".join(f"<Version><Key>{key}</Key><VersionId>v</VersionId></Version>" for key in keys)
    marker = "<NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>" if more else ""
    truncated = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
    return (
        f"<ListVersionsResult><EncodingType>url</EncodingType>{truncated}{marker}{items}</ListVersionsResult>".encode()
    )


def deleted_keys(body: bytes) -> list[str]:
    root = ET.fromstring(body)  # noqa: S314 - written by botocore a moment ago
    return [element.text or "" for element in root.iter() if element.tag.endswith("}Key")]


# ---------------------------------------------------------------- metadata


@pytest.mark.parametrize("correlation_id", ["", "with space", "line\nbreak", "ümlaut", "x" * 129])
def test_a_correlation_id_that_no_header_can_hold_is_left_out(client: "S3Client", correlation_id: str) -> None:
    name = f"bucket-{uuid4()}"
    new_bucket(client, name, versioned=False)
    store = S3ObjectStore(name, client=client)

    store.put(KEY, b"x", content_type="text/plain", correlation_id=correlation_id)

    info = store.head(KEY)
    assert info is not None
    assert info.correlation_id is None


def test_a_correlation_id_of_another_shape_is_not_read_from_the_bucket(client: "S3Client") -> None:
    name = f"bucket-{uuid4()}"
    new_bucket(client, name, versioned=False)
    client.put_object(Bucket=name, Key=str(KEY), Body=b"x", Metadata={"correlation-id": "two words " * 50})

    info = S3ObjectStore(name, client=client).head(KEY)

    assert info is not None
    assert info.correlation_id is None


@pytest.mark.parametrize("content_type", ["", " text/plain", "text/plain\r\nX-Evil: 1", "text/plaiñ", "a/" + "b" * 300])
def test_a_content_type_that_no_header_can_hold_is_an_invalid_request(client: "S3Client", content_type: str) -> None:
    store = S3ObjectStore("documents", client=client)

    with pytest.raises(InvalidRequest):
        store.put(KEY, b"x", content_type=content_type, correlation_id="r")
    with pytest.raises(InvalidRequest):
        store.presign_post(KEY, content_type=content_type, max_bytes=1, correlation_id="r", expires_in=60)


# ---------------------------------------------------------------- presigned forms


def presigned(client: "S3Client", bucket: str = "documents") -> PresignedPost:
    return S3ObjectStore(bucket, client=client).presign_post(
        KEY, content_type="text/plain", max_bytes=10, correlation_id="request-1", expires_in=60
    )


def test_a_form_that_is_sent_becomes_the_object(client: "S3Client") -> None:
    name = f"bucket-{uuid4()}"
    new_bucket(client, name, versioned=False)
    form = presigned(client, name)

    sent = httpx.post(form.url, data=form.fields, files={"file": ("another name.txt", b"hello")})

    assert sent.status_code in {200, 204}
    found = S3ObjectStore(name, client=client).get(KEY, max_bytes=10)
    assert found is not None
    assert found[1] == b"hello"
    assert (found[0].content_type, found[0].correlation_id) == ("text/plain", "request-1")


def test_the_policy_allows_what_was_asked_for(client: "S3Client") -> None:
    form = presigned(client)

    assert allows(form, form.fields, size=1)
    assert allows(form, form.fields, size=10)


@pytest.mark.parametrize(
    ("change", "size"),
    [
        ({"key": str(KEY) + "x"}, 5),
        ({"key": f"{KEY.user_id}/{UUID(int=3)}/a.txt"}, 5),
        ({"Content-Type": "text/html"}, 5),
        ({"x-amz-meta-correlation-id": "another"}, 5),
        ({"acl": "public-read"}, 5),
        ({"x-amz-meta-more": "x"}, 5),
        ({"success_action_redirect": "https://evil.example"}, 5),
        ({}, 0),
        ({}, 11),
    ],
)
def test_the_policy_allows_nothing_else(client: "S3Client", change: dict[str, str], size: int) -> None:
    form = presigned(client)

    assert not allows(form, {**form.fields, **change}, size=size)


def test_the_policy_is_signed_with_version_4(client: "S3Client") -> None:
    fields = presigned(client).fields
    date, region, service, terminator = fields["x-amz-credential"].split("/")[1:]

    signing_key = reduce(
        lambda key, part: hmac.new(key, part.encode(), hashlib.sha256).digest(),
        (date, region, service, terminator),
        f"AWS4{SECRET}".encode(),
    )

    assert (region, service) == ("us-east-1", "s3")
    assert fields["x-amz-signature"] == hmac.new(signing_key, fields["policy"].encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
def test_in_the_cloud_a_form_goes_to_the_bucket_s_own_host_and_region(region: str) -> None:
    form = presigned(s3_client(region=region))

    host = "s3.amazonaws.com" if region == "us-east-1" else f"s3.{region}.amazonaws.com"
    assert form.url == f"https://documents.{host}/"
    assert form.fields["x-amz-algorithm"] == "AWS4-HMAC-SHA256"


def test_at_an_address_a_form_names_the_bucket_in_its_path() -> None:
    form = presigned(s3_client(endpoint="http://127.0.0.1:9000", region="us-east-1"))

    assert form.url == "http://127.0.0.1:9000/documents"


def allows(form: PresignedPost, fields: dict[str, str], *, size: int) -> bool:
    """Judge an upload by the signed policy, as "POST Policy" in the Amazon S3 API Reference tells to.

    Every field but the policy, the signature and those that begin with ``x-ignore-`` has to be named by a condition.
    """
    policy: Any = json.loads(base64.b64decode(form.fields["policy"]))
    conditions: list[dict[str, str] | tuple[str, int, int]] = policy["conditions"]
    named = {"policy", "x-amz-signature", "file"}
    for condition in conditions:
        if not isinstance(condition, dict):
            kind, low, high = condition
            if kind != "content-length-range" or not low <= size <= high:
                return False
            continue
        ((name, value),) = condition.items()
        named.add(name.lower())
        if name != "bucket" and fields.get(name) != value:
            return False
    return all(name.lower() in named or name.lower().startswith("x-ignore-") for name in fields)
