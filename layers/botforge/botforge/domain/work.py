"""Work that a worker has taken on."""

from dataclasses import dataclass

from botforge.domain.ids import BotId, DocumentId, ObjectKey, UserId


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's hold on a document: only the holder of the highest generation may change what is visible."""

    key: ObjectKey
    document_id: DocumentId
    generation: int
    active_etag: str | None  # of the content that answers quote now; None if nothing is indexed
    active_generation: int | None


@dataclass(frozen=True, slots=True)
class PurgeableBot:
    """A bot that its owner deleted and that still has objects, vectors or rows."""

    user_id: UserId
    bot_id: BotId
