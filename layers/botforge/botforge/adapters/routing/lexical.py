"""Words that a message shares with a tool, and the hashed n-grams of a message. The trainer uses the same functions."""

# numpy's overloads are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
import itertools
import math
import re
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

IDF_SLOTS = 1 << 15
GRAM_SLOTS = 1 << 18
_MAX_CHARACTERS = 2_000
_MAX_TOKENS = 120

_WORD = re.compile(r"[a-z0-9]+")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_GRAM = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[^\sa-z\d]")
_SUFFIXES = ("ations", "ation", "ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "ly")
_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        a an the of to for in on at by with from and or is are was were be been do does did can could would will should
        i you me my your it this that please what which who how when where why want need like get give have has any some
        all about into if not no s m d ll re ve t us we our
        """,
    )
)


def stems(text: str) -> frozenset[str]:
    """The text's words without their endings; English function words are left out."""
    words = _WORD.findall(" ".join(_BOUNDARY.split(text[:_MAX_CHARACTERS])).lower())
    return frozenset(_stem(word) for word in words if len(word) > 1 and word not in _STOP_WORDS)


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def slot(stem: str) -> int:
    """Where a stem's inverse document frequency stands."""
    return zlib.crc32(stem.encode()) % IDF_SLOTS


def overlap(message: frozenset[str], name: frozenset[str], description: frozenset[str], idf: Floats) -> list[float]:
    """Three shares, 0..1: of the message's weight found in the tool, of the name's weight found in the message, and of
    the found weight itself (eight counts as all). Weights are inverse document frequencies."""

    def weight(words: frozenset[str]) -> float:
        return float(sum(idf[slot(word)] for word in words))

    if not message:
        return [0.0, 0.0, 0.0]
    shared = weight(message & (name | description))
    return [
        shared / (weight(message) + 1e-9),
        weight(message & name) / (weight(name) + 1e-9),
        min(1.0, shared / 8),
    ]


def gram_slots(text: str) -> npt.NDArray[np.int64]:
    """The distinct slots of a message's words, pairs of words and beginning; each counts ``gram_weight``."""
    tokens = ["0" if token.isdigit() else token for token in _GRAM.findall(_plain(text))][:_MAX_TOKENS]
    framed = ["<s>", *tokens, "</s>"]
    grams = [f"w {token}" for token in tokens]
    grams += [f"b {one} {other}" for one, other in itertools.pairwise(framed)]
    grams += ["t " + " ".join(framed[start : start + 3]) for start in range(min(3, len(framed) - 2))]
    return np.unique(np.array([zlib.crc32(gram.encode("utf-8", "replace")) % GRAM_SLOTS for gram in grams], np.int64))


def gram_weight(slots: Sequence[int] | npt.NDArray[np.int64]) -> float:
    """What each present slot counts, so that the whole has length 1."""
    return 1 / math.sqrt(len(slots)) if len(slots) else 0.0


def _plain(text: str) -> str:
    return text[:_MAX_CHARACTERS].lower().replace("’", "'")
