"""An ObjectStore in memory: a versioned bucket that can be told to fall silent."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from botforge.domain.document import ObjectInfo
from botforge.domain.errors import InvalidRequest, ObjectStoreUnavailable
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.ports.objects import PresignedPost


@dataclass(frozen=True, slots=True)
class _Version:
    info: ObjectInfo
    body: bytes


@dataclass(slots=True)
class InMemoryObjectStore:
    """Keeps every version under its key's text; ``None`` among them is a delete marker."""

    unavailable: bool = False
    versions: dict[str, list[_Version | None]] = field(default_factory=dict[str, list[_Version | None]])
    writes: int = 0

    def head(self, key: ObjectKey) -> ObjectInfo | None:
        latest = self._latest(str(key))
        return latest.info if latest else None

    def get(self, key: ObjectKey, *, max_bytes: int) -> tuple[ObjectInfo, bytes] | None:
        latest = self._latest(str(key))
        return (latest.info, latest.body[:max_bytes]) if latest else None

    def put(self, key: ObjectKey, body: bytes, *, content_type: str, correlation_id: str) -> None:
        self.put_raw(str(key), body, content_type=content_type, correlation_id=correlation_id)

    def put_raw(
        self,
        key: str,
        body: bytes,
        *,
        content_type: str = "binary/octet-stream",
        correlation_id: str | None = None,
    ) -> None:
        """Write under any key, as somebody with access to the bucket may."""
        self._check()
        self.writes += 1
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        info = ObjectInfo(len(body), content_type, etag, f"v{self.writes}", correlation_id)
        self.versions.setdefault(key, []).append(_Version(info, body))

    def delete(self, key: ObjectKey) -> None:
        self._check()
        self.versions.setdefault(str(key), []).append(None)

    def presign_post(
        self, key: ObjectKey, *, content_type: str, max_bytes: int, correlation_id: str, expires_in: int
    ) -> PresignedPost:
        self._check()
        if "${" in key.path:
            raise InvalidRequest("A presigned form cannot name a file with '${' in it.", code="invalid_name")
        fields = {
            "key": str(key),
            "Content-Type": content_type,
            "x-amz-meta-correlation-id": correlation_id,
            "max-bytes": str(max_bytes),
        }
        return PresignedPost("memory://bucket", fields, expires_in)

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> int:
        self._check()
        prefix = f"{user_id}/{bot_id}/"
        gone = [self.versions.pop(key) for key in list(self.versions) if key.startswith(prefix)]
        return sum(version is not None for versions in gone for version in versions)

    def list_keys(self, user_id: UserId, bot_id: BotId) -> Iterator[ObjectKey]:
        self._check()
        prefix = f"{user_id}/{bot_id}/"
        for key in sorted(self.versions, key=lambda text: text.encode("utf-8")):
            if key.startswith(prefix) and self.versions[key][-1] is not None:
                try:
                    yield ObjectKey.parse(key)
                except ValueError:
                    continue

    def _latest(self, key: str) -> _Version | None:
        self._check()
        versions = self.versions.get(key)
        return versions[-1] if versions else None

    def _check(self) -> None:
        if self.unavailable:
            raise ObjectStoreUnavailable("The document store does not answer.")
