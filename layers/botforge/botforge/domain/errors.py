"""Every error that BotForge raises on purpose, in one tree.

::

    BotForgeError
    ├── InvalidRequest          422  the request is well-formed and cannot be meant
    │   └── EgressRefused            an address that we do not connect to
    ├── NotFound                404  unknown, or another tenant's: the two look the same
    ├── Conflict                409  it contradicts what is stored
    ├── PayloadTooLarge         413
    ├── UnsupportedMediaType    415
    ├── DocumentError           (a document's fate, never an HTTP status)
    │   ├── DocumentRejected         we will not take this document: retrying changes nothing
    │   └── DocumentFailed           we could not read this document: retrying changes nothing
    ├── ToolServerError         422  a registered server gave no usable answer (``delivery``: what it may have done)
    └── Unavailable             503  something we depend on; trying again may help
        ├── DatabaseUnavailable
        ├── VectorIndexUnavailable
        ├── EmbeddingUnavailable
        ├── ObjectStoreUnavailable
        ├── ChatModelUnavailable
        ├── VaultUnavailable
        └── DeadlineExceeded

A request error carries what a problem document (RFC 9457) shows: ``code`` (stable, for programs), ``message`` (for
people), ``field`` (the offending one, if any) and ``next_step`` (what to do now).
"""

from enum import StrEnum

from botforge.domain.reasons import Reason


class BotForgeError(Exception):
    """The root of the tree. ``status`` is the HTTP status that an edge answers with."""

    status = 500
    code = "internal_error"
    next_step: str | None = None

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, next_step: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.code = code or self.code
        self.next_step = next_step or self.next_step


class InvalidRequest(BotForgeError):
    """The request parsed, but it cannot be meant (a bound is exceeded, fields contradict each other)."""

    status = 422
    code = "invalid_request"


class EgressRefused(InvalidRequest):
    """The address is none that we connect to: not https, not public, or not resolvable."""

    code = "endpoint_refused"
    next_step = "Give an https URL whose name resolves to public addresses only."


class NotFound(BotForgeError):
    """There is no such thing for this caller. A foreign id gets exactly the answer of an unknown one."""

    status = 404
    code = "not_found"
    next_step = "Check the id, and that the token belongs to its owner."


class Conflict(BotForgeError):
    """The request contradicts what is stored."""

    status = 409
    code = "conflict"


class PayloadTooLarge(BotForgeError):
    """A body or a file is above its bound."""

    status = 413
    code = "payload_too_large"


class UnsupportedMediaType(BotForgeError):
    """The content type, or the file's format, is none that we read."""

    status = 415
    code = "unsupported_media_type"


class DocumentError(BotForgeError):
    """A document ends here, with a reason code that its owner sees; retrying would change nothing."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message, code=reason.value)
        self.reason = reason


class DocumentRejected(DocumentError):
    """We will not take this document: its type, size or name is outside what we accept."""


class DocumentFailed(DocumentError):
    """We took this document and could not read it: it is damaged, encrypted, empty or too costly."""


class Delivery(StrEnum):
    """What can be known about a request that failed; it decides whether it may be sent again."""

    NOT_SENT = "not_sent"  # it surely never arrived: no connection, no handshake
    UNKNOWN = "unknown"  # it may have arrived and been acted upon
    ANSWERED = "answered"  # the server answered, and the answer is an error or cannot be used


class ToolServerError(BotForgeError):
    """A tool server gave no usable answer. ``code`` says in which way: ``tool_server_unreachable``,
    ``tool_server_timeout``, ``tool_server_error``, ``tool_server_invalid_response``, ``tool_response_too_large``; and
    where the tool surely did not run, ``tool_server_unauthorized``, ``tool_server_busy``, ``tool_call_refused``,
    ``tool_unknown``. The message never repeats what the server sent."""

    status = 422
    code = "tool_server_error"

    def __init__(self, message: str, *, delivery: Delivery, code: str | None = None, field: str | None = None) -> None:
        super().__init__(message, code=code, field=field)
        self.delivery = delivery


class Unavailable(BotForgeError):
    """Something we depend on does not answer; the same request may succeed later."""

    status = 503
    code = "unavailable"
    next_step = "Try again in a few seconds."


class DatabaseUnavailable(Unavailable):
    code = "database_unavailable"


class VectorIndexUnavailable(Unavailable):
    code = "vector_index_unavailable"


class EmbeddingUnavailable(Unavailable):
    code = "embedding_unavailable"


class RerankerUnavailable(Unavailable):
    """``code`` is ``reranker_timeout`` if it was too slow."""

    code = "reranker_unavailable"


class ObjectStoreUnavailable(Unavailable):
    code = "object_store_unavailable"


class ChatModelUnavailable(Unavailable):
    """The LLM gave no usable answer. ``code`` says in which way: ``llm_timeout``, ``llm_rate_limited``,
    ``llm_error``, ``llm_refused``, ``llm_invalid_response``."""

    code = "llm_error"


class VaultUnavailable(Unavailable):
    """A credential can be neither sealed nor opened."""

    code = "vault_unavailable"


class DeadlineExceeded(Unavailable):
    """The request's own deadline passed before the work was done."""

    code = "deadline_exceeded"
