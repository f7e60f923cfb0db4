"""Keeping secrets and other people's text out of the logs.

Three nets, since each has holes: secrets that are known are replaced wherever they stand, fields and assignments that
are named like a secret lose their value, and what looks like a secret is replaced for its shape. Text is kept out by
bounding every string, and by what exceptions may say.
"""

import math
import re
import traceback
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from botforge.domain.errors import BotForgeError

MASK = "***"
MAX_TEXT = 500  # characters of one field
MAX_TRACE = 8_000  # characters of one exception with its causes
_MAX_MESSAGE = 200  # characters of a library's message
_MIN_SECRET = 12  # characters: a shorter one could be found in harmless words, and the other nets still hold it

_SECRET_WORD = r"(?:password|passwd|secret|token(?!s)|api[-_]?key|credential|signature|authorization|cookie|dsn)"  # noqa: S105
_SECRET_FIELD = re.compile(rf"{_SECRET_WORD}|^(?:database|redis)_url$", re.IGNORECASE)
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(://[^\s:/@]*:)\S+@"), rf"\1{MASK}@"),  # user:password@ in a URL; a password may hold an @ itself
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {MASK}"),
    (
        re.compile(
            rf"""(\b[\w-]{{0,40}}{_SECRET_WORD}[\w-]{{0,40}}["']?\s*[=:]\s*)("[^"]*"?|'[^']*'?|[^\s,;&"'}}\])]+)""",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]+){0,2}"), MASK),  # a JSON Web Token
    (re.compile(r"\b(?:sk|pk|rk|pcsk|ghp|gho|xox[abp])[-_][\w-]{8,}"), MASK),  # API keys with a vendor's prefix
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), MASK),  # an AWS access key's id
)
# Where a message begins to quote what it was given. An apostrophe inside a word quotes nothing.
_QUOTATION = re.compile(r"""["`({\[<«“‘]|(?<!\w)'|\n""")
_CODE = re.compile(r"[A-Za-z0-9_.]{1,40}")

_concealed: set[str] = set()


def conceal(secret: str) -> None:
    """Never let ``secret`` be logged from now on; of a URL, its password neither."""
    password = urlsplit(secret).password if "://" in secret else None
    for value in (secret, password, unquote(password or "")):
        if value and len(value) >= _MIN_SECRET:
            _concealed.add(value)


def conceal_environment(environment: Mapping[str, str]) -> None:
    """Conceal every variable that is named like a secret."""
    for name, value in environment.items():
        if _SECRET_FIELD.search(name) and not name.endswith(("_ARN", "_FILE", "_PATH", "_DIR")):
            conceal(value)


def scrubbed(text: str, limit: int = MAX_TEXT) -> str:
    """``text`` without what is or looks like a secret, and no longer than ``limit`` characters."""
    for secret in sorted(_concealed, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = text[: 2 * limit]  # a pattern must see what the cut would halve, and need not see a megabyte
    for pattern, replacement in _SHAPES:
        text = pattern.sub(replacement, text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def redacted(value: object, *, field: str = "") -> Any:  # noqa: ANN401 - whatever JSON holds
    """A copy of ``value`` that JSON can hold and anybody may read."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if _SECRET_FIELD.search(field):
        return MASK
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {scrubbed(str(name)): redacted(item, field=str(name)) for name, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [redacted(item) for item in cast("list[object]", value)]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(cast('bytes', value))} bytes>"
    return scrubbed(str(value), MAX_TRACE if field == "exception" else MAX_TEXT)


def described(error: BaseException) -> str:
    """An exception, its traceback and what caused it, innermost last.

    Our own errors tell their whole message. Of a library's only what comes before the first quotation is kept: what
    follows is data (a row, a parameter, an input), and a reply of an HTTP API is data altogether.
    """
    parts: list[str] = []
    link: BaseException | None = error
    while link is not None and len(parts) < 10:
        trace = "".join(traceback.format_tb(link.__traceback__)[-12:])
        parts.append(f"{trace}{type(link).__module__}.{type(link).__qualname__}{_message(link)}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\ncaused by:\n".join(parts)


def _message(error: BaseException) -> str:
    if isinstance(error, BotForgeError):
        return f" [{error.code}]: {error.message}"
    codes = (getattr(error, name, None) for name in ("sqlstate", "status_code", "errno"))
    code = next((f" [{code}]" for code in codes if isinstance(code, str | int) and _CODE.fullmatch(str(code))), "")
    if hasattr(error, "status_code") or hasattr(error, "response"):
        return code
    told = _QUOTATION.split(str(error), maxsplit=1)[0].strip()[:_MAX_MESSAGE]
    return f"{code}: {told}" if told else code
