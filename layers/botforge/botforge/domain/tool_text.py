"""The text that stands for a tool in the vector space: what its definition says about when to use it."""

import re
from typing import Any, cast

from botforge.domain.tool import ToolDefinition

_MAX_DESCRIPTION = 1_000  # characters; the model reads some 250 tokens
_MAX_PARAMETERS = 30
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")


def tool_text(definition: ToolDefinition) -> str:
    """``name in words: description. parameter, parameter``.

    A model of language knows words, not ``getUserById`` or ``file_system.list``. Descriptions of parameters are left
    out: they repeat the tool's own, and push it out of what the model reads.
    """
    properties = definition.input_schema.get("properties")
    names = list(cast("dict[str, Any]", properties))[:_MAX_PARAMETERS] if isinstance(properties, dict) else []
    described = f"{words(definition.name)}: {definition.description[:_MAX_DESCRIPTION].strip()}"
    return f"{described} {', '.join(map(words, names))}".strip()


def words(name: str) -> str:
    """``getUserById`` → ``get user by id``."""
    parts = [part for part in _BOUNDARY.split(name) if part]
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts) or name
