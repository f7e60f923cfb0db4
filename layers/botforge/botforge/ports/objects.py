"""The bucket: the truth of which documents exist."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from botforge.domain.document import ObjectInfo
from botforge.domain.ids import BotId, ObjectKey, UserId


@dataclass(frozen=True, slots=True)
class PresignedPost:
    """A form that a browser or curl can send: every field, then the file as the last one."""

    url: str
    fields: dict[str, str]
    expires_in: int  # seconds


class ObjectStore(Protocol):
    """Every method raises ObjectStoreUnavailable when the store does not answer."""

    def head(self, key: ObjectKey) -> ObjectInfo | None:
        """What lies under the key now; None if nothing does."""
        ...

    def get(self, key: ObjectKey, *, max_bytes: int) -> tuple[ObjectInfo, bytes] | None:
        """The object as it is now, never more than ``max_bytes`` of it; None if there is none."""
        ...

    def put(self, key: ObjectKey, body: bytes, *, content_type: str, correlation_id: str) -> None: ...

    def delete(self, key: ObjectKey) -> None:
        """Delete the object; on a versioned bucket this leaves a delete marker. Absent is no error."""
        ...

    def presign_post(
        self, key: ObjectKey, *, content_type: str, max_bytes: int, correlation_id: str, expires_in: int
    ) -> PresignedPost:
        """A form for exactly this key, this content type and at most ``max_bytes``."""
        ...

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> int:
        """Delete every object of a bot, old versions included; returns how many there were."""
        ...

    def list_keys(self, user_id: UserId, bot_id: BotId) -> Iterator[ObjectKey]:
        """The keys of a bot's objects, in the store's order; keys that do not parse are left out."""
        ...
