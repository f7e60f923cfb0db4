"""Bodies of ``/upload``."""

from dataclasses import asdict
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field

from botforge.domain.document import Document, DocumentStatus
from botforge.domain.reasons import Reason
from botforge.http.schemas.fields import Moment, ReplyBody, RequestBody, VisibleText


class UploadRequest(RequestBody):
    """Asks for a presigned form instead of sending the file."""

    bot_id: UUID
    filename: Annotated[VisibleText, Field(max_length=1_024)]
    content_type: Annotated[VisibleText, Field(max_length=200, pattern=r"^[\x21-\x7e]+/[\x20-\x7e]+$")]
    size: Annotated[int, Field(ge=1, description="Bytes.")]


class DocumentReply(ReplyBody):
    document_id: UUID
    bot_id: UUID
    filename: str
    path: str
    content_type: str
    size: int
    status: DocumentStatus
    reason: Reason | None
    detail: str | None
    chunk_count: int
    truncated_chunks: int
    created_at: Moment
    updated_at: Moment
    indexed_at: Moment | None

    @classmethod
    def of(cls, document: Document) -> Self:
        return cls.model_validate({**asdict(document), "document_id": document.id, "filename": document.filename})


class UploadForm(ReplyBody):
    """A presigned POST: send every field of ``fields``, then the file as the field ``file``."""

    url: str
    fields: dict[str, str]
    expires_in: int


class UploadReply(DocumentReply):
    upload: UploadForm | None = None  # where to send the file; None if it came along


class DocumentPage(ReplyBody):
    items: list[DocumentReply]
    next_cursor: str | None


class ChunkReply(ReplyBody):
    ordinal: int
    text: str
    title: str | None
    headings: list[str]
    page: int | None


class ChunkPage(ReplyBody):
    items: list[ChunkReply]
    next_cursor: str | None


class NamespaceReply(ReplyBody):
    bot_id: UUID
    bot_name: str
    documents: int
    chunks: int


class NamespacePage(ReplyBody):
    items: list[NamespaceReply]
    next_cursor: str | None
