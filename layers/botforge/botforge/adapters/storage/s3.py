"""The bucket on Amazon S3, or whatever speaks its API."""

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from botforge.domain.document import ObjectInfo
from botforge.domain.errors import InvalidRequest, ObjectStoreUnavailable
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.ports.objects import PresignedPost

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, HeadObjectOutputTypeDef, ObjectIdentifierTypeDef

CORRELATION_METADATA = "correlation-id"  # travels as x-amz-meta-correlation-id

_DELETE_BATCH = 1_000  # keys that DeleteObjects takes at once
_DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "403", "Forbidden"})
_CORRELATION_ID = re.compile(r"[\x21-\x7e]{1,128}")
_CONTENT_TYPE = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,254}")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # XML 1.0, section 2.2: no escape exists


def s3_client(*, endpoint: str | None = None, region: str | None = None) -> "S3Client":
    """A client whose every call ends within 25 s: three attempts of at most 2 s + 5 s, and 3 s of pauses between.

    Signature 4 and virtual-hosted addresses are set outright because presigned forms would otherwise be signed with
    version 2 in us-east-1, and sent to the global endpoint elsewhere, which redirects for new buckets. An endpoint
    that is an IP address still gets path-style addresses: botocore sees to that.
    """
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": "virtual"},
        connect_timeout=2,
        read_timeout=5,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    # The stubs overload `client` for every service there is, and type those that are not installed as unknown.
    client: S3Client = boto3.Session().client(  # pyright: ignore[reportUnknownMemberType]
        "s3", endpoint_url=endpoint, region_name=region, config=config
    )
    return client


class S3ObjectStore:
    """ObjectStore over one bucket.

    The role needs ``s3:ListBucket``: without it S3 answers 403 instead of 404 for a key that does not exist, which
    is reported as ObjectStoreUnavailable with the code ``object_store_denied``, never as absence.
    """

    def __init__(self, bucket: str, *, client: "S3Client | None" = None, endpoint: str | None = None) -> None:
        self._bucket = bucket
        self._client = client or s3_client(endpoint=endpoint)

    def head(self, key: ObjectKey) -> ObjectInfo | None:
        with _translated():
            try:
                return _info(self._client.head_object(Bucket=self._bucket, Key=str(key)))
            except ClientError as error:
                if _status(error) != 404:
                    raise
            # A HEAD has no body to say which 404 it is. Only GET tells a key that is gone from a bucket that is
            # gone or misspelt, after which every document would count as deleted.
            response = self._open(key)
            if response is None:
                return None
            response["Body"].close()
            return _info(response)

    def get(self, key: ObjectKey, *, max_bytes: int) -> tuple[ObjectInfo, bytes] | None:
        with _translated():
            response = self._open(key)
            if response is None:
                return None
            info = _info(response)
            # Not a Range: an empty object answers one with 416. What lies beyond is never read from the socket.
            # Only a read to the end checks length and checksum; a read of some bytes just ends where the body does.
            with closing(response["Body"]) as body:  # its own context manager gives the unchecked stream beneath
                content = body.read() if info.size <= max_bytes else body.read(max_bytes)
            if len(content) < min(info.size, max_bytes):
                raise ObjectStoreUnavailable("The document store broke off in the middle of an object.")
            return info, content

    def put(self, key: ObjectKey, body: bytes, *, content_type: str, correlation_id: str) -> None:
        """Store the object. Raises InvalidRequest for a content type that no header can hold.

        A correlation id that is not 1 to 128 visible ASCII characters is left out.
        """
        with _translated():
            self._client.put_object(
                Bucket=self._bucket,
                Key=str(key),
                Body=body,
                ContentType=_checked_content_type(content_type),
                Metadata=_metadata(correlation_id),
            )

    def delete(self, key: ObjectKey) -> None:
        with _translated():
            self._client.delete_object(Bucket=self._bucket, Key=str(key))

    def presign_post(
        self, key: ObjectKey, *, content_type: str, max_bytes: int, correlation_id: str, expires_in: int
    ) -> PresignedPost:
        """A form for exactly this key, content type, correlation id and 1 to ``max_bytes`` bytes.

        It dies with the credentials that signed it, so a role's session can cut ``expires_in`` (seconds) short.
        Raises InvalidRequest for a name with ``${``: S3 puts the uploader's file name in place of ``${filename}``
        before it compares, and botocore signs a key that ends so for every key with the same beginning
        ("Creating an HTML form (Using AWS Signature Version 4)", Amazon S3 API Reference).
        """
        if "${" in key.path:
            raise InvalidRequest(
                "A presigned form cannot name a file with '${' in it.",
                code="invalid_name",
                field="filename",
                next_step="Rename the file, or send it as multipart/form-data.",
            )
        fields = {"Content-Type": _checked_content_type(content_type)}
        fields |= {f"x-amz-meta-{name}": value for name, value in _metadata(correlation_id).items()}
        conditions: list[dict[str, str] | list[str | int]] = [{name: value} for name, value in fields.items()]
        conditions.append(["content-length-range", 1, max_bytes])
        with _translated():
            form = self._client.generate_presigned_post(
                self._bucket, str(key), Fields=dict(fields), Conditions=conditions, ExpiresIn=expires_in
            )
        return PresignedPost(form["url"], form["fields"], expires_in)

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> int:
        """Delete every version and every delete marker of a bot; returns the number of versions."""
        pages = self._client.get_paginator("list_object_versions")
        deleted = 0
        with _translated():
            for page in pages.paginate(Bucket=self._bucket, Prefix=_prefix(user_id, bot_id)):
                found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
                for start in range(0, len(found), _DELETE_BATCH):
                    batch = found[start : start + _DELETE_BATCH]
                    self._delete_versions([(item.get("Key", ""), item.get("VersionId", "null")) for item in batch])
                deleted += len(page.get("Versions", []))
        return deleted

    def list_keys(self, user_id: UserId, bot_id: BotId) -> Iterator[ObjectKey]:
        pages = self._client.get_paginator("list_objects_v2")
        with _translated():
            for page in pages.paginate(Bucket=self._bucket, Prefix=_prefix(user_id, bot_id)):
                for item in page.get("Contents", []):
                    try:
                        yield ObjectKey.parse(item.get("Key", ""))
                    except ValueError:
                        continue

    def _open(self, key: ObjectKey) -> "GetObjectOutputTypeDef | None":
        try:
            return self._client.get_object(Bucket=self._bucket, Key=str(key))
        except self._client.exceptions.NoSuchKey:
            return None

    def _delete_versions(self, versions: Sequence[tuple[str, str]]) -> None:
        batch: list[ObjectIdentifierTypeDef] = []
        for key, version in versions:
            if _NOT_IN_XML.search(key):  # would spoil the request for the whole batch
                self._client.delete_object(Bucket=self._bucket, Key=key, VersionId=version)
            else:
                batch.append({"Key": key, "VersionId": version})
        if batch:
            reply = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})
            for failure in reply.get("Errors", []):
                raise _unavailable(failure.get("Code", ""))


def _prefix(user_id: UserId, bot_id: BotId) -> str:
    return f"{user_id}/{bot_id}/"


def _metadata(correlation_id: str) -> dict[str, str]:
    return {CORRELATION_METADATA: correlation_id} if _CORRELATION_ID.fullmatch(correlation_id) else {}


def _checked_content_type(content_type: str) -> str:
    if not _CONTENT_TYPE.fullmatch(content_type):
        raise InvalidRequest(
            "The content type is not one that an HTTP header can hold.",
            code="invalid_content_type",
            field="content_type",
            next_step="Use a media type such as application/pdf.",
        )
    return content_type


def _info(response: "HeadObjectOutputTypeDef | GetObjectOutputTypeDef") -> ObjectInfo:
    # Whoever may write to the bucket chooses the metadata: an id of any other shape is not carried into logs.
    correlation_id = response["Metadata"].get(CORRELATION_METADATA, "")
    return ObjectInfo(
        size=response["ContentLength"],
        content_type=response.get("ContentType", ""),
        etag=response["ETag"].strip('"'),
        version_id=response.get("VersionId"),
        correlation_id=correlation_id if _CORRELATION_ID.fullmatch(correlation_id) else None,
    )


def _status(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except ClientError as error:
        raise _unavailable(error.response.get("Error", {}).get("Code", "")) from error
    except BotoCoreError as error:
        raise ObjectStoreUnavailable("The document store does not answer.") from error


def _unavailable(code: str) -> ObjectStoreUnavailable:
    if code in _DENIED:
        return ObjectStoreUnavailable("The document store refuses access.", code="object_store_denied")
    if code == "NoSuchBucket":
        return ObjectStoreUnavailable("The document store has no such bucket.", code="object_store_misconfigured")
    return ObjectStoreUnavailable("The document store does not answer as it should.")
