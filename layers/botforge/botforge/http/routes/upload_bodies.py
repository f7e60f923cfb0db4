"""The two bodies of ``POST /upload/documents``: the file itself, or the wish to send it elsewhere."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from botforge.domain.errors import InvalidRequest, PayloadTooLarge, UnsupportedMediaType
from botforge.http.schemas.documents import UploadRequest

MAX_FILE_BYTES = 4 * 1024 * 1024

UPLOAD_BODIES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["bot_id", "file"],
                    "properties": {
                        "bot_id": {"type": "string", "format": "uuid"},
                        "file": {"type": "string", "format": "binary", "description": "At most 4 MB."},
                    },
                }
            },
            "application/json": {"schema": {"$ref": "#/components/schemas/UploadRequest"}},
        },
    },
    "responses": {
        "201": {
            "description": "Announced: send the file with the form under `upload`.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/UploadReply"}}},
        }
    },
}


@dataclass(frozen=True, slots=True)
class UploadedFile:
    bot_id: UUID
    filename: str
    content_type: str
    content: bytes


async def upload_body(request: Request) -> UploadedFile | UploadRequest:
    """Read whichever body was sent. Raises InvalidRequest, PayloadTooLarge, UnsupportedMediaType."""
    media_type = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if media_type == "multipart/form-data":
        return await _multipart(request)
    if media_type == "application/json":
        return _announcement(await request.body())
    raise UnsupportedMediaType(
        "The body must be multipart/form-data or application/json.",
        field="content-type",
        next_step="Send the file as the form field `file` beside `bot_id`.",
    )


def _announcement(body: bytes) -> UploadRequest:
    try:
        return UploadRequest.model_validate_json(body)
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        raise RequestValidationError([{**detail, "loc": ("body", *detail["loc"])} for detail in details]) from error


async def _multipart(request: Request) -> UploadedFile:
    async with request.form(max_files=1, max_fields=5, max_part_size=1024) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InvalidRequest("The form has no file.", code="missing", field="file")
        if (file.size or 0) > MAX_FILE_BYTES:
            raise PayloadTooLarge(
                f"A file sent this way may have at most {MAX_FILE_BYTES} bytes.",
                code="file_too_large",
                field="file",
                next_step="Announce it with a JSON body and send it with the presigned form.",
            )
        unknown = sorted(set(form) - {"file", "bot_id"})
        if unknown:
            raise InvalidRequest(
                "The form has a field that is not known.", code="extra_forbidden", field=unknown[0][:100]
            )
        return UploadedFile(
            bot_id=_bot_id(form.get("bot_id")),
            filename=file.filename or "",
            content_type=file.content_type or "application/octet-stream",
            content=await file.read(),
        )


def _bot_id(value: object) -> UUID:
    try:
        return UUID(str(value))
    except ValueError as error:
        raise InvalidRequest("bot_id must be a UUID.", code="uuid_parsing", field="bot_id") from error
