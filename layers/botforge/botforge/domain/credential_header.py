"""Which header a registrar may have us send: one that carries a secret, and none that means something to HTTP."""

import re

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")  # RFC 9110, "token"
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")  # no CR, no LF, nothing that could be cut off or added

# They frame the message, name its target or its sender, negotiate its form, or belong to the protocols that we speak.
_RESERVED = frozenset(
    {
        "accept", "accept-charset", "accept-encoding", "accept-language", "age", "alt-svc", "cache-control",
        "connection", "content-encoding", "content-language", "content-length", "content-location", "content-range",
        "content-type", "cookie", "cookie2", "date", "expect", "forwarded", "from", "host", "http2-settings",
        "idempotency-key",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive",
        "last-event-id", "max-forwards", "origin", "pragma", "range", "referer", "set-cookie", "set-cookie2", "te",
        "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "user-agent", "via", "warning",
        "x-http-method", "x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url", "x-real-ip",
    }
)  # fmt: skip
_RESERVED_BEGINNINGS = ("access-control-", "mcp-", "proxy-", "sec-", "x-amz", "x-forwarded-", ":")


def header_problem(name: str) -> str | None:
    """Why ``name`` cannot be the header of a credential, as the end of "the header …"; None if it can."""
    if not _NAME.fullmatch(name):
        return "is no name of 1 to 64 letters, digits and dashes"
    lower = name.lower().replace("_", "-")  # many servers read both as one
    if lower in _RESERVED or lower.startswith(_RESERVED_BEGINNINGS):
        return "is not one that a credential may be sent in"
    return None


def is_header_value(text: str) -> bool:
    """Printable ASCII without a space at either end."""
    return _VALUE.fullmatch(text) is not None
