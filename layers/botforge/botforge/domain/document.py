"""A document: one object in the bucket, and what became of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from botforge.domain.ids import BotId, DocumentId, UserId
from botforge.domain.reasons import Reason


class DocumentStatus(StrEnum):
    PENDING = "pending"  # announced (a presigned upload) or seen; not read yet
    PROCESSING = "processing"  # a worker has claimed it
    INDEXED = "indexed"  # its chunks can be retrieved
    FAILED = "failed"  # we could not read it; `reason` says why
    REJECTED = "rejected"  # we will not take it; `reason` says why
    DELETED = "deleted"  # a tombstone: it keeps the sequencer so that late events find it gone


@dataclass(frozen=True, slots=True)
class Document:
    """One object's row. A document that is being replaced keeps answering from its active generation."""

    id: DocumentId
    user_id: UserId
    bot_id: BotId
    path: str
    content_type: str
    size: int  # bytes
    status: DocumentStatus
    reason: Reason | None
    detail: str | None  # the reason in a sentence
    active_generation: int | None  # the one that answers may quote
    chunk_count: int  # chunks of the active generation
    truncated_chunks: int  # chunks of which the embedding model saw only the beginning
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None

    @property
    def filename(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What the bucket says of an object now (HEAD)."""

    size: int
    content_type: str
    etag: str
    version_id: str | None
    correlation_id: str | None


def is_newer(sequencer: str | None, than: str | None) -> bool:
    """Whether an event's sequencer is later than the one stored for the same key.

    Sequencers are hexadecimal strings of varying length that compare lexicographically after right-padding the
    shorter with zeros; they say nothing across keys (Amazon S3 User Guide, "Event message structure"). A missing
    sequencer cannot be compared: it counts as newer, and the bucket is asked for what is true.
    """
    if sequencer is None or than is None:
        return True
    width = max(len(sequencer), len(than))
    return sequencer.lower().ljust(width, "0") > than.lower().ljust(width, "0")
