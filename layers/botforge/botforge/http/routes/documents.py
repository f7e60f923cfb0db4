"""``/upload``."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from botforge.domain.document import DocumentStatus
from botforge.domain.errors import InvalidRequest
from botforge.domain.ids import BotId, DocumentId
from botforge.http.event import request_id_of
from botforge.http.principal import User
from botforge.http.routes.responses import PROBLEMS
from botforge.http.routes.upload_bodies import UPLOAD_BODIES, UploadedFile, upload_body
from botforge.http.schemas.documents import (
    ChunkPage,
    ChunkReply,
    DocumentPage,
    DocumentReply,
    NamespacePage,
    UploadForm,
    UploadReply,
    UploadRequest,
)
from botforge.http.schemas.fields import Cursor, Limit
from botforge.services.uploads import UploadService


def documents_router(service: UploadService) -> APIRouter:
    router = APIRouter(prefix="/upload", tags=["documents"], responses=PROBLEMS)

    @router.post("/documents", status_code=202, openapi_extra=UPLOAD_BODIES)
    def upload_document(
        body: Annotated[UploadedFile | UploadRequest, Depends(upload_body)],
        user: User,
        request: Request,
        response: Response,
    ) -> UploadReply:
        """Send the file itself (multipart: 202), or announce it (JSON: 201) and send it with the presigned form."""
        correlation_id = request_id_of(request) or "local"
        bot_id = BotId(body.bot_id)
        if isinstance(body, UploadedFile):
            return UploadReply.of(
                service.store(
                    user,
                    bot_id,
                    filename=body.filename,
                    content_type=body.content_type,
                    body=body.content,
                    correlation_id=correlation_id,
                )
            )
        document, form = service.presign(
            user,
            bot_id,
            filename=body.filename,
            content_type=body.content_type,
            size=body.size,
            correlation_id=correlation_id,
        )
        response.status_code = 201
        reply = UploadReply.of(document)
        return reply.model_copy(update={"upload": UploadForm.model_validate(form)})

    @router.get("/namespaces")
    def list_namespaces(user: User, limit: Limit = 50, cursor: Cursor | None = None) -> NamespacePage:
        return NamespacePage.model_validate(service.namespaces(user, limit=limit, cursor=cursor))

    @router.get("/documents/{bot_id}")
    def list_documents(
        bot_id: UUID,
        user: User,
        status: Annotated[DocumentStatus | None, Query()] = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> DocumentPage:
        page = service.list(user, BotId(bot_id), status=status, limit=limit, cursor=cursor)
        return DocumentPage(items=[DocumentReply.of(document) for document in page.items], next_cursor=page.next_cursor)

    @router.get("/documents/{bot_id}/{document_id}")
    def get_document(bot_id: UUID, document_id: UUID, user: User) -> DocumentReply:
        return DocumentReply.of(service.get(user, BotId(bot_id), DocumentId(document_id)))

    @router.get("/documents/{bot_id}/{document_id}/chunks")
    def read_document(
        bot_id: UUID, document_id: UUID, user: User, limit: Limit = 50, cursor: Cursor | None = None
    ) -> ChunkPage:
        """The text that answers may quote, piece by piece, as it was extracted."""
        chunks, after = service.read(user, BotId(bot_id), DocumentId(document_id), after=_ordinal(cursor), limit=limit)
        return ChunkPage(
            items=[ChunkReply.model_validate(chunk) for chunk in chunks],
            next_cursor=None if after is None else str(after),
        )

    @router.delete("/documents/{bot_id}/{document_id}", status_code=204)
    def delete_document(bot_id: UUID, document_id: UUID, user: User) -> Response:
        service.delete(user, BotId(bot_id), DocumentId(document_id))
        return Response(status_code=204)

    return router


def _ordinal(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise InvalidRequest("The cursor is not one of ours.", code="invalid_cursor", field="cursor")
    return int(cursor)
