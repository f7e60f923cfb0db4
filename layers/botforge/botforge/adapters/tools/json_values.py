"""JSON of a stranger: parsed strictly, bounded in depth, and made fit to be stored."""

import json
import re
import sys
from typing import Any, NoReturn, TypeAlias, cast

Json: TypeAlias = Any

_MAX_DEPTH = 64
_MAX_NUMBER = sys.float_info.max
_UNFIT = re.compile("[\0\ud800-\udfff]")


class NotJson(ValueError):
    """Not JSON, or such that no database could hold it."""


def parse(body: bytes | str) -> Json:
    """Raises NotJson for what RFC 8259 does not allow (``NaN``), for numbers beyond a double and for deep nesting.

    NUL and lone surrogates, which JSON allows and PostgreSQL does not, become U+FFFD.
    """
    try:
        return storable(json.loads(body, parse_constant=_no_constant))
    except (ValueError, RecursionError):
        raise NotJson("not valid JSON") from None


def storable(value: Json, depth: int = _MAX_DEPTH) -> Json:
    """``value``, already parsed, as PostgreSQL's ``jsonb`` takes it. Raises NotJson like ``parse``."""
    if depth == 0:
        raise NotJson("nested too deeply")
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int | float) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise NotJson("a number beyond a double")
    if (items := as_list(value)) is not None:
        return [storable(item, depth - 1) for item in items]
    if (members := as_object(value)) is not None:
        return {text(str(key)): storable(item, depth - 1) for key, item in members.items()}
    return value


def text(value: str) -> str:
    return _UNFIT.sub("\ufffd", value)


def as_object(value: object) -> dict[str, Json] | None:
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Json] | None:
    return cast("list[Json]", value) if isinstance(value, list) else None


def compact(value: Json) -> str:
    """JSON for people and models: no escapes, no spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical(value: Json) -> bytes:
    """The same bytes for the same JSON value, whatever the order of its members."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def _no_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")
