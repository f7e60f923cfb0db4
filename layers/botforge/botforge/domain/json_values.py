"""JSON that others made: read strictly, written canonically, and made fit to be stored.

PostgreSQL's jsonb knows no NUL, no lone surrogates and no numbers that are not finite; neither does what we store.
"""

import json
import math
from typing import Any, cast

from botforge.domain.tool import JsonObject

_MAX_DEPTH = 64
_REPLACEMENT = "\ufffd"


def read_object(text: str) -> JsonObject:
    """The JSON object that ``text`` holds. Raises ValueError, which says in a sentence what is wrong with it."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not valid JSON: {error.msg} at character {error.pos}.") from error
    except RecursionError as error:
        raise ValueError("This is nested too deeply.") from error
    if not isinstance(value, dict):
        raise ValueError("This must be a JSON object.")  # noqa: TRY004 - one error for all that is wrong with a text
    _check(value, 0)  # pyright: ignore[reportUnknownArgumentType] - JSON
    return cast("JsonObject", value)


def canonical(value: object) -> str:
    """One spelling for equal values: keys in order, no spaces, whole numbers without a fraction."""
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def storable(value: object, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """The value with everything replaced that cannot be stored; what is nested too deeply becomes None."""
    if isinstance(value, str):
        return value.replace("\0", _REPLACEMENT).encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict | list) and depth >= _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {storable(str(key)): storable(member, depth + 1) for key, member in items}
    if isinstance(value, list | tuple):
        return [storable(member, depth + 1) for member in cast("list[object]", value)]
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number.")


def _check(value: object, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("This is nested too deeply.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):  # 1e999 is read as infinity
        raise ValueError("A number is too large.")
    elif isinstance(value, dict):
        for key, member in cast("dict[str, object]", value).items():
            _check_text(key)
            _check(member, depth + 1)
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            _check(member, depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("A text holds a NUL character or half of a surrogate pair.")


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_whole(member) for member in cast("list[object]", value)]
    return value
