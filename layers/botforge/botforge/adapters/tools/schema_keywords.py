"""The keywords of a JSON Schema that hold no further schema: kept where their values are valid."""

from botforge.adapters.tools.json_values import Json, as_list, compact

_MAX_TEXT_CHARS = 1_024  # of a title or a description
_MAX_PATTERN_CHARS = 200
_MAX_DATA_BYTES = 8 * 1024  # of an enumeration, a default or the examples of one position

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_NUMBERS = (
    *("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    *(f"{bound}{what}" for bound in ("max", "min") for what in ("Length", "Items", "Contains", "Properties")),
)


def plain_keywords(source: dict[str, Json]) -> dict[str, Json]:
    return {
        **_type(source.get("type")),
        **_words(source),
        **{key: source[key] for key in _NUMBERS if _is_number(source.get(key))},
        **{key: source[key] for key in ("const", "default") if key in source and _is_small(source[key])},
        **{key: source[key] for key in ("enum", "examples") if as_list(source.get(key)) and _is_small(source[key])},
        **_required(source.get("required")),
        **({"uniqueItems": True} if source.get("uniqueItems") is True else {}),
    }


def _type(value: object) -> dict[str, Json]:
    if isinstance(value, str):
        return {"type": value} if value in _TYPES else {}
    kinds = [kind for kind in as_list(value) or () if isinstance(kind, str) and kind in _TYPES]
    return {"type": kinds} if kinds else {}


def _words(source: dict[str, Json]) -> dict[str, Json]:
    title, description, pattern, form = (source.get(key) for key in ("title", "description", "pattern", "format"))
    words = description if isinstance(description, str) else ""
    if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN_CHARS:
        words = f"{words} (pattern: {pattern})".lstrip()
    return {
        **({"title": _shortened(title)} if isinstance(title, str) else {}),
        **({"description": _shortened(words)} if words else {}),
        **({"format": form} if isinstance(form, str) and len(form) <= _MAX_PATTERN_CHARS else {}),
    }


def _shortened(words: str) -> str:
    return words if len(words) <= _MAX_TEXT_CHARS else words[: _MAX_TEXT_CHARS - 1] + "…"


def _required(value: object) -> dict[str, Json]:
    names = [name for name in as_list(value) or () if isinstance(name, str)]
    return {"required": list(dict.fromkeys(names))} if names else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_small(value: Json) -> bool:
    return len(compact(value).encode()) <= _MAX_DATA_BYTES
