"""What every ObjectStore keeps to: S3's API over HTTP, with and without versioning, and the fake of other tests."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from tests.fakes.objects import InMemoryObjectStore
from tests.fakes.s3_server import new_bucket, s3_server

from botforge.adapters.storage.s3 import S3ObjectStore, s3_client
from botforge.domain.errors import InvalidRequest
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.ports.objects import ObjectStore

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

NAMES = [
    "report.pdf",
    "a+b%20c.pdf",
    "a b&c=d?e#f;g.txt",
    "%2F%2e%00.md",
    "😀/👩‍👩‍👧.md",
    "تقرير السنة.docx",
    "e\u0301 and \u00e9.txt",
    "../x",
    "./a/../b.txt",
    "a//b.txt",
    " space at both ends ",
    "<tag attr='\"'>.html",
    "back\\slash.txt",
    "${filename}",
    "x" * 950,
]


@dataclass(frozen=True, slots=True)
class Bucket:
    store: ObjectStore
    put_raw: Callable[[str, bytes], object]  # what somebody else wrote, under any key


@pytest.fixture(scope="module")
def client() -> "Generator[S3Client]":
    with pytest.MonkeyPatch.context() as patch, s3_server() as url:
        patch.setenv("AWS_ACCESS_KEY_ID", "local")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "local")
        yield s3_client(endpoint=url, region="us-east-1")


@pytest.fixture(params=["memory", "s3", "s3-versioned"])
def bucket(request: pytest.FixtureRequest, client: "S3Client") -> Bucket:
    if request.param == "memory":
        memory = InMemoryObjectStore()
        return Bucket(memory, memory.put_raw)
    name = f"bucket-{uuid4()}"
    new_bucket(client, name, versioned=request.param == "s3-versioned")
    return Bucket(
        S3ObjectStore(name, client=client), lambda key, body: client.put_object(Bucket=name, Key=key, Body=body)
    )


@pytest.fixture
def store(bucket: Bucket) -> ObjectStore:
    return bucket.store


def key(path: str = "report.txt", *, of: ObjectKey | None = None) -> ObjectKey:
    """A key in a namespace of its own, or in that of another key."""
    if of is not None:
        return ObjectKey(of.user_id, of.bot_id, path)
    return ObjectKey(UserId(uuid4()), BotId(uuid4()), path)


def put(store: ObjectStore, where: ObjectKey, body: bytes = b"text") -> None:
    store.put(where, body, content_type="text/plain", correlation_id="request-1")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_comes_back_as_it_was_written(store: ObjectStore, name: str) -> None:
    where = key(name)
    put(store, where, name.encode())

    found = store.get(where, max_bytes=10_000)

    assert found is not None
    assert found[1] == name.encode()
    assert list(store.list_keys(where.user_id, where.bot_id)) == [where]


def test_names_that_look_alike_are_different_objects(store: ObjectStore) -> None:
    names = ["a b", "a+b", "a%20b", "a/b", "a//b", "./a/b", "\u00e9", "e\u0301", "A", "a"]
    first = key(names[0])
    for name in names:
        put(store, key(name, of=first), name.encode())

    bodies = [store.get(key(name, of=first), max_bytes=100) for name in names]

    assert [found[1] for found in bodies if found] == [name.encode() for name in names]


def test_head_and_get_tell_the_same_of_an_object(store: ObjectStore) -> None:
    where = key()
    store.put(where, b"hello", content_type="text/markdown; charset=utf-8", correlation_id="request-1")

    info = store.head(where)
    found = store.get(where, max_bytes=5)

    assert info is not None
    assert found == (info, b"hello")
    assert info.size == 5
    assert info.content_type == "text/markdown; charset=utf-8"
    assert info.correlation_id == "request-1"
    assert info.etag
    assert '"' not in info.etag


def test_the_etag_changes_with_the_content_and_only_with_it(store: ObjectStore) -> None:
    where = key()
    etags: list[str] = []
    for body in (b"one", b"two", b"one"):
        put(store, where, body)
        info = store.head(where)
        assert info is not None
        etags.append(info.etag)

    assert etags[0] == etags[2] != etags[1]


def test_an_object_that_was_put_by_somebody_else_has_no_correlation_id(bucket: Bucket) -> None:
    where = key()
    bucket.put_raw(str(where), b"text")

    info = bucket.store.head(where)

    assert info is not None
    assert info.correlation_id is None


def test_what_does_not_exist_is_none(store: ObjectStore) -> None:
    assert store.head(key()) is None
    assert store.get(key(), max_bytes=10) is None


def test_an_empty_object_exists(store: ObjectStore) -> None:
    where = key()
    put(store, where, b"")

    found = store.get(where, max_bytes=10)

    assert found is not None
    assert found[0].size == 0
    assert found[1] == b""
    assert store.head(where) == found[0]


def test_no_more_than_max_bytes_are_read_and_the_size_is_told_all_the_same(store: ObjectStore) -> None:
    where = key()
    put(store, where, b"0123456789" * 100_000)

    found = store.get(where, max_bytes=15)

    assert found is not None
    assert found[1] == b"012345678901234"
    assert found[0].size == 1_000_000


def test_a_deleted_object_is_gone_and_can_be_deleted_again(store: ObjectStore) -> None:
    where = key()
    put(store, where)
    store.delete(where)
    store.delete(where)

    assert store.head(where) is None
    assert store.get(where, max_bytes=10) is None
    assert list(store.list_keys(where.user_id, where.bot_id)) == []


def test_an_object_can_be_put_again_after_it_was_deleted(store: ObjectStore) -> None:
    where = key()
    put(store, where, b"one")
    store.delete(where)
    put(store, where, b"two")

    found = store.get(where, max_bytes=10)

    assert found is not None
    assert found[1] == b"two"


def test_deleting_a_namespace_takes_all_of_it_and_nothing_else(store: ObjectStore) -> None:
    mine = key("a.txt")
    other_bot = ObjectKey(mine.user_id, BotId(uuid4()), "a.txt")
    other_user = ObjectKey(UserId(uuid4()), mine.bot_id, "a.txt")
    for where in (mine, key("b/c.txt", of=mine), key("a+b%20c 😀.pdf", of=mine), other_bot, other_user):
        put(store, where)

    assert store.delete_namespace(mine.user_id, mine.bot_id) == 3

    assert list(store.list_keys(mine.user_id, mine.bot_id)) == []
    assert store.head(mine) is None
    assert store.head(other_bot) is not None
    assert store.head(other_user) is not None


def test_deleting_a_namespace_that_holds_nothing_is_no_error(store: ObjectStore) -> None:
    assert store.delete_namespace(UserId(uuid4()), BotId(uuid4())) == 0


def test_keys_that_name_no_document_are_left_out_of_the_list(bucket: Bucket) -> None:
    where = key("real.txt")
    bucket.put_raw(f"{where.user_id}/{where.bot_id}/folder/", b"")
    put(bucket.store, where)

    assert list(bucket.store.list_keys(where.user_id, where.bot_id)) == [where]


def test_a_presigned_form_names_the_key_the_type_and_the_correlation_id(store: ObjectStore) -> None:
    where = key("a+b%20c 😀.pdf")

    form = store.presign_post(
        where, content_type="application/pdf", max_bytes=100, correlation_id="request-1", expires_in=600
    )

    assert form.fields["key"] == str(where)
    assert form.fields["Content-Type"] == "application/pdf"
    assert form.fields["x-amz-meta-correlation-id"] == "request-1"
    assert form.expires_in == 600


@pytest.mark.parametrize("name", ["${filename}", "a/${filename}", "${filename}.pdf", "${other}.pdf"])
def test_no_form_is_signed_for_a_name_that_s3_would_replace(store: ObjectStore, name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store.presign_post(key(name), content_type="text/plain", max_bytes=1, correlation_id="r", expires_in=60)

    assert refused.value.code == "invalid_name"
