"""Why a document is not ``indexed``: stable codes that owners and programs read."""

from enum import StrEnum


class Reason(StrEnum):
    # rejected: we will not take it
    UNSUPPORTED_TYPE = "unsupported_type"
    CONTENT_MISMATCH = "content_mismatch"  # the bytes are not what the name or the content type says
    TOO_LARGE = "too_large"
    INVALID_NAME = "invalid_name"
    # failed: we could not read it
    EMPTY = "empty"  # no bytes, or no text in them
    NO_TEXT_LAYER = "no_text_layer"  # a scan: only OCR could read it
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    TOO_COMPLEX = "too_complex"  # a limit of time, memory, pages or characters was hit
    RETRIES_EXHAUSTED = "retries_exhausted"
    WORKER_LOST = "worker_lost"  # a worker took it and never came back
    UPLOAD_EXPIRED = "upload_expired"  # a presigned upload that nobody used
