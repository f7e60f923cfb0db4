"""What happened to an object in the bucket, and what we made of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from botforge.domain.ids import DocumentId

MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
MAX_CHUNKS = 4_000  # of one document; embedding them takes minutes, and a worker has ten
MAX_CHUNKS_WITH_SENTENCES = 2_000  # in a longer document sentences get no vectors: they take as long again


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """A hint that something changed under a key. What is true now, the bucket says."""

    key: str  # decoded, once
    sequencer: str | None
    event_time: datetime | None
    request_id: str | None  # S3's; a stand-in where the object carries no correlation id


class Outcome(StrEnum):
    INDEXED = "indexed"
    UNCHANGED = "unchanged"  # the content is what the active generation already holds
    REMOVED = "removed"
    REJECTED = "rejected"
    FAILED = "failed"
    STALE = "stale"  # a later event for the key has been handled
    SUPERSEDED = "superseded"  # a later claim took over while we worked
    IGNORED = "ignored"  # the key names no bot of ours


@dataclass(frozen=True, slots=True)
class IngestionResult:
    outcome: Outcome
    reason: str | None = None
    document_id: DocumentId | None = None
    chunks: int = 0
    truncated: int = 0
    correlation_id: str | None = None
    lag_seconds: float | None = None  # from the event to its outcome
