"""What the Chat Completions API accepts of tools: names, descriptions and schemas (API reference, "tools")."""

import re
from typing import Any

from botforge_dev.fakes.openai_errors import BadRequest, Json

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_TOOLS = 128
_MAX_DESCRIPTION = 1_024
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def check_tools(tools: object) -> frozenset[str]:
    if tools is None:
        return frozenset()
    if not isinstance(tools, list) or not 1 <= len(tools) <= _MAX_TOOLS:  # pyright: ignore[reportUnknownArgumentType]
        raise BadRequest(f"Invalid 'tools': 1 to {_MAX_TOOLS} tools.", param="tools", code="invalid_value")
    names: list[str] = []
    for place, tool in enumerate(tools):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        where = f"tools[{place}]"
        function: Any = tool.get("function") if isinstance(tool, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not isinstance(function, dict) or tool.get("type") != "function":  # pyright: ignore[reportUnknownMemberType]
            raise BadRequest(f"Missing required parameter: '{where}.function'.", param=where, code="missing_required")
        names.append(_check_function(function, where))  # pyright: ignore[reportUnknownArgumentType]
    if len(set(names)) < len(names):
        raise BadRequest("Tool names must be unique.", param="tools", code="invalid_value")
    return frozenset(names)


def _check_function(function: Json, where: str) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        message = f"Invalid '{where}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
        raise BadRequest(message, param=f"{where}.function.name", code="invalid_value")
    description = function.get("description", "")
    if not isinstance(description, str) or len(description) > _MAX_DESCRIPTION:
        message = f"Invalid '{where}.function.description': string too long, or no string."
        raise BadRequest(message, param=f"{where}.function.description", code="string_above_max_length")
    schema: Any = function.get("parameters", {"type": "object"})
    if not isinstance(schema, dict) or schema.get("type") != "object":  # pyright: ignore[reportUnknownMemberType]
        message = f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"'."
        raise BadRequest(message, param=f"{where}.function.parameters", code="invalid_function_parameters")
    wrong = _wrong_with(schema, schema)  # pyright: ignore[reportUnknownArgumentType]
    if wrong:
        message = f"Invalid schema for function '{name}': {wrong}."
        raise BadRequest(message, param=f"{where}.function.parameters", code="invalid_function_parameters")
    return name


def _wrong_with(schema: object, root: Json) -> str | None:
    """What the service finds wrong with a schema or one of its parts; None if it takes it."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return f"{schema!r} is not of type 'object', 'boolean'"
    part: Json = schema  # pyright: ignore[reportUnknownVariableType] - JSON
    reference = part.get("$ref")
    if reference is not None and not _resolves(reference, root):
        return f"reference {reference!r} can not be resolved"
    kinds: Any = part.get("type", [])
    if not all(kind in _TYPES for kind in (kinds if isinstance(kinds, list) else [kinds])):  # pyright: ignore[reportUnknownVariableType]
        return f"{kinds!r} is not valid under any of the given schemas"
    properties: Any = part.get("properties", {})
    if not isinstance(properties, dict):
        return "'properties' is not an object"
    if kinds == "array" and "items" not in part and "prefixItems" not in part:
        return "array schema missing items"
    alternatives: list[Any] = [one for name in ("anyOf", "oneOf", "allOf") for one in part.get(name, [])]
    below: list[Any] = [*properties.values(), *alternatives, *([part["items"]] if "items" in part else [])]  # pyright: ignore[reportUnknownArgumentType]
    return next((wrong for each in below if (wrong := _wrong_with(each, root))), None)


def _resolves(reference: object, root: Json) -> bool:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return False
    place: Json | None = root
    for step in filter(None, reference.removeprefix("#").split("/")):
        below: Any = place.get(step) if place is not None else None
        place = below if isinstance(below, dict) else None  # pyright: ignore[reportUnknownVariableType]
    return place is not None
