"""Simple arguments out of a message, without a language model: numbers, choices, expressions and quoted text.

For local development: it fills what stands in the message word for word, and says what it could not find.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from botforge.domain.tool import JsonObject

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
_EXPRESSION = re.compile(r"[-+(]*\d[\d.,\s()+*/^%-]*[\d)]")
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|‘([^’]+)’|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`")
_AFTER_COLON = re.compile(r":\s+(\S.*)$", re.DOTALL)
_EXPRESSION_NAMES = re.compile(r"expression|formula|equation|calculation", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Filled:
    arguments: JsonObject
    missing: tuple[str, ...]  # required parameters that the message does not give


def fill(schema: JsonObject, text: str) -> Filled:
    """The arguments that ``text`` gives for the parameters of ``schema``, in the schema's order."""
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    required = cast("Sequence[str]", schema.get("required") or ())
    message = _Message(text)
    arguments: dict[str, Any] = {}
    for name, described in properties.items():
        if not isinstance(described, Mapping):
            continue
        value = message.value(name, cast("JsonObject", described), wanted=name in required)
        if value is not None:
            arguments[name] = value
    return Filled(arguments, tuple(name for name in required if name not in arguments))


class _Message:
    """What is left to take from a message: each number and each quotation serves once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._numbers = [match.group().replace(",", "") for match in _NUMBER.finditer(text)]
        self._quoted = ["".join(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
        self._chosen: set[str] = set()

    def value(self, name: str, schema: JsonObject, *, wanted: bool) -> object:
        """None if the message does not give it. What is not ``wanted`` is taken only where it is beyond doubt."""
        if "const" in schema:
            return schema["const"]
        choices = schema.get("enum")
        if isinstance(choices, Sequence):
            return self._choice([choice for choice in cast("Sequence[object]", choices) if isinstance(choice, str)])
        match schema.get("type"):
            case "integer" if wanted:
                return self._number(whole=True)
            case "number" if wanted:
                return self._number(whole=False)
            case "string" if wanted:
                return self._words(name)
            case _:
                return None

    def _choice(self, choices: Sequence[str]) -> str | None:
        found = [(match.start(), choice) for choice in choices if (match := self._mention(choice))]
        if not found:
            return None
        _, choice = min(found)
        self._chosen.add(choice)
        return choice

    def _mention(self, choice: str) -> re.Match[str] | None:
        if choice in self._chosen:
            return None
        return re.search(rf"(?<!\w){re.escape(choice)}(?:e?s)?(?!\w)", self._text, re.IGNORECASE)

    def _number(self, *, whole: bool) -> int | float | None:
        for place, number in enumerate(self._numbers):
            value = float(number)
            if value.is_integer() or not whole:
                del self._numbers[place]
                return int(value) if value.is_integer() else value
        return None

    def _words(self, name: str) -> str | None:
        if _EXPRESSION_NAMES.search(name):
            found = max((match.group() for match in _EXPRESSION.finditer(self._text)), key=len, default=None)
            return found.strip() if found else None
        if self._quoted:
            return self._quoted.pop(0)
        after = _AFTER_COLON.search(self._text)
        return after.group(1).strip() if after else None
