"""The texts that stand for a tool in the vector space: what its definition says about when to use it."""

import re
from itertools import islice
from typing import Any, cast

from botforge.domain.tool import ToolDefinition

_MAX_DESCRIPTION = 1_000  # characters; the model reads some 250 tokens
_MAX_PARAMETERS = 30
_MAX_TEXT = 4_000
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")


def tool_text(definition: ToolDefinition) -> str:
    """``name in words: description. parameter, parameter``.

    A model of language knows words, not ``getUserById`` or ``file_system.list``. Descriptions of parameters are left
    out: they repeat the tool's own, and push it out of what the model reads.
    """
    names = list(_parameters(definition))
    return f"{_described(definition)} {', '.join(map(words, names))}".strip()


def parameters_text(definition: ToolDefinition) -> str | None:
    """``name in words: description. parameter: its description``; None if no parameter is described.

    What a tool takes tells what it is for in words that its own description lacks.
    """
    described = {
        name: text.strip()
        for name, schema in _parameters(definition).items()
        if isinstance(schema, dict) and isinstance(text := cast("dict[str, Any]", schema).get("description"), str)
    }
    told = ", ".join(f"{words(name)}: {text}" for name, text in described.items() if text)
    return f"{_described(definition)} {told}"[:_MAX_TEXT] if told else None


def _described(definition: ToolDefinition) -> str:
    return f"{words(definition.name)}: {definition.description[:_MAX_DESCRIPTION].strip()}"


def _parameters(definition: ToolDefinition) -> dict[str, Any]:
    properties = definition.input_schema.get("properties")
    return (
        dict(islice(cast("dict[str, Any]", properties).items(), _MAX_PARAMETERS))
        if isinstance(properties, dict)
        else {}
    )


def words(name: str) -> str:
    """``getUserById`` → ``get user by id``."""
    parts = [part for part in _BOUNDARY.split(name) if part]
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts) or name
