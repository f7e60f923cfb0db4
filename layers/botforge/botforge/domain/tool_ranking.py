"""Which tools a message is about: its meaning, the words it shares with them, and a share for each of its parts."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from botforge.domain.tool import ServerTool, ToolDefinition
from botforge.domain.tool_text import words

_LEXICAL = 0.4  # weight of shared words beside a cosine
_SHARE = 0.08  # what each tool already taken for a part of the message costs that part's next one
_IN_NAME, _IN_DESCRIPTION, _IN_PARAMETERS = 1.0, 0.6, 0.3  # what a shared word counts, by where it stands
_WORD = re.compile(r"\w{3,}")
_SUFFIXES = ("ing", "ies", "es", "ed", "s")


@dataclass(frozen=True, slots=True)
class RankedTool:
    target: ServerTool
    cosine: float  # to the part of the message that it answers best
    score: float


def ranked(
    parts: Sequence[str], candidates: Sequence[tuple[ServerTool, Sequence[float]]], *, limit: int
) -> list[RankedTool]:
    """The best ``limit`` candidates, best first.

    ``parts``: the whole message, then its clauses; a candidate comes with its cosine to each. A long message would
    otherwise be answered by eight tools for its loudest wish: whatever has been served gives way a little.
    """
    described = [_described(target.tool.definition) for target, _ in candidates]
    weights = _Weights(described)
    asked = [_stems(part) for part in parts]
    scores = [
        [cosine + _LEXICAL * _shared(part, own, weights) for part, cosine in zip(asked, cosines, strict=True)]
        for own, (_, cosines) in zip(described, candidates, strict=True)
    ]
    taken: list[RankedTool] = []
    served = [0] * len(parts)
    left = list(range(len(candidates)))
    while left and len(taken) < limit:
        value, place, part = max(
            (score - _SHARE * times, -place, -part)
            for place in left
            for part, (score, times) in enumerate(zip(scores[place], served, strict=True))
        )
        left.remove(-place)
        served[-part] += 1
        target, cosines = candidates[-place]
        taken.append(RankedTool(target, cosines[-part], value))
    return taken


@dataclass(frozen=True, slots=True)
class _Words:
    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.name | self.description | self.parameters


def _described(definition: ToolDefinition) -> _Words:
    properties = definition.input_schema.get("properties")
    parameters = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    texts = [words(name) for name in parameters]
    texts += [str(schema.get("description", "")) for schema in parameters.values() if isinstance(schema, dict)]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - JSON
    return _Words(_stems(words(definition.name)), _stems(definition.description), _stems(" ".join(texts)))


class _Weights:
    """Rare words among the candidates tell them apart (inverse document frequency)."""

    def __init__(self, described: Sequence[_Words]) -> None:
        self._number = len(described)
        self._known = Counter(word for own in described for word in own.all)

    def of(self, word: str) -> float:
        return math.log(1 + self._number / (1 + self._known[word]))


def _shared(asked: frozenset[str], own: _Words, weights: _Weights) -> float:
    """The share of what is asked that the tool's words cover, 0..1."""
    total = sum(weights.of(word) for word in asked)
    return sum(weights.of(word) * _place(word, own) for word in asked) / total if total else 0.0


def _place(word: str, own: _Words) -> float:
    if word in own.name:
        return _IN_NAME
    if word in own.description:
        return _IN_DESCRIPTION
    return _IN_PARAMETERS if word in own.parameters else 0.0


@lru_cache(maxsize=1_024)  # the same tools come up for message after message
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()))


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word
