"""Documents as their owner handles them: upload, list, read, delete."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.bot import Namespace
from botforge.domain.chunk import Chunk
from botforge.domain.document import Document, DocumentStatus
from botforge.domain.errors import InvalidRequest, NotFound, PayloadTooLarge, UnsupportedMediaType
from botforge.domain.formats import SUPPORTED_EXTENSIONS, format_of
from botforge.domain.ids import BotId, DocumentId, ObjectKey, UserId
from botforge.domain.ingestion import MAX_DOCUMENT_BYTES
from botforge.domain.naming import checked_path
from botforge.domain.page import Page
from botforge.ports.objects import ObjectStore, PresignedPost
from botforge.ports.repositories import Bots, Chunks, Documents

PRESIGNED_EXPIRY_S = 3600


@dataclass(frozen=True, slots=True)
class UploadService:
    bots: Bots
    documents: Documents
    chunks: Chunks
    objects: ObjectStore

    def store(
        self, user_id: UserId, bot_id: BotId, *, filename: str, content_type: str, body: bytes, correlation_id: str
    ) -> Document:
        """Put the file into the bucket; its S3 event starts ingestion. The object exists when this returns."""
        key = self._key(user_id, bot_id, filename, content_type)
        if not body:
            raise InvalidRequest("The file is empty.", code="empty_file", field="file")
        self.objects.put(key, body, content_type=content_type, correlation_id=correlation_id)
        return self.documents.announce(key, content_type=content_type, size=len(body))

    def presign(
        self, user_id: UserId, bot_id: BotId, *, filename: str, content_type: str, size: int, correlation_id: str
    ) -> tuple[Document, PresignedPost]:
        """A form with which the owner uploads the file straight into the bucket, within the hour."""
        key = self._key(user_id, bot_id, filename, content_type)
        if size > MAX_DOCUMENT_BYTES:
            raise PayloadTooLarge(
                f"A document may have at most {MAX_DOCUMENT_BYTES} bytes.",
                code="document_too_large",
                field="size",
                next_step="Split the document.",
            )
        form = self.objects.presign_post(
            key,
            content_type=content_type,
            max_bytes=size,
            correlation_id=correlation_id,
            expires_in=PRESIGNED_EXPIRY_S,
        )
        return self.documents.announce(key, content_type=content_type, size=size), form

    def list(
        self, user_id: UserId, bot_id: BotId, *, status: DocumentStatus | None, limit: int, cursor: str | None
    ) -> Page[Document]:
        self._check_bot(user_id, bot_id)
        return self.documents.list(user_id, bot_id, status=status, limit=limit, cursor=cursor)

    def get(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> Document:
        self._check_bot(user_id, bot_id)
        return _known(self.documents.get(user_id, bot_id, document_id))

    def read(
        self, user_id: UserId, bot_id: BotId, document_id: DocumentId, *, after: int, limit: int
    ) -> tuple[Sequence[Chunk], int | None]:
        """A page of the text that answers may quote now, and the ordinal to continue after (None: the end)."""
        document = self.get(user_id, bot_id, document_id)
        if document.active_generation is None:
            return [], None
        chunks = list(self.chunks.read(user_id, document_id, document.active_generation, after=after, limit=limit + 1))
        return chunks[:limit], chunks[limit - 1].ordinal if len(chunks) > limit else None

    def delete(self, user_id: UserId, bot_id: BotId, document_id: DocumentId) -> None:
        """Out of the bucket, and out of every answer, before this returns."""
        document = self.get(user_id, bot_id, document_id)
        self.objects.delete(ObjectKey(user_id, bot_id, document.path))
        self.documents.forget(user_id, bot_id, document_id)

    def namespaces(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Namespace]:
        return self.bots.namespaces(user_id, limit=limit, cursor=cursor)

    def _key(self, user_id: UserId, bot_id: BotId, filename: str, content_type: str) -> ObjectKey:
        self._check_bot(user_id, bot_id)
        path = checked_path(filename)
        if format_of(path, content_type) is None:
            raise UnsupportedMediaType(
                f"Files of the type {content_type} with this name are not read.",
                code="unsupported_type",
                field="file",
                next_step=f"Upload one of: {', '.join(SUPPORTED_EXTENSIONS)}.",
            )
        return ObjectKey(user_id, bot_id, path)

    def _check_bot(self, user_id: UserId, bot_id: BotId) -> None:
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")


def _known(document: Document | None) -> Document:
    if document is None:
        raise NotFound("There is no such document.", code="document_not_found", field="document_id")
    return document
