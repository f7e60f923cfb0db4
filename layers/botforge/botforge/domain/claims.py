"""What an answer claims, sentence by sentence, and what can be told of a claim's support without any model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.sentences import split_sentences

_MARKER = re.compile(r"\s*\[(\d{1,3})\]")
_LEADING_MARKERS = re.compile(r"^(?:\s*\[\d{1,3}\])+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]{3,}")
# Only words that turn a statement round. "No" is left out: it begins answers ("No, it is …").
_NEGATION = re.compile(r"\b(?:not|never|cannot|without|neither|nor)\b|\w+n['’]t\b", re.IGNORECASE)
# Words of grammar, which two sentences share whatever they are about.
_GRAMMAR = frozenset(
    re.findall(
        r"\w+",
        "the and for are was were has have had been being that this these those with from its their his her "
        "not but can could may might will would shall should must into onto over under than then them they "
        "there here which who whom whose what when where why how also such any all each both more most other "
        "some only very does did doing",
    )
)
_NAME = re.compile(r"(?<=[^\W\d_] |, )[A-Z][A-Za-z]{2,}")  # capitalised within a sentence, acronyms included
NEARLY_QUOTED = 0.8  # of a claim's words stand in one sentence: its meaning needs no model
_SAME_LENGTH = 0.7
_STEM = 5  # letters that two forms of a word share: enough to pair "warranty" with "warranties"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without its markers, and the numbers of the sources it names (empty: none)."""

    text: str
    cites: tuple[int, ...]


def claims(text: str) -> list[Claim]:
    """The sentences of an answer that state something; markers after a full stop belong to the sentence before it."""
    found: list[Claim] = []
    for line in text.splitlines():
        for sentence in split_sentences(line):
            leading = _LEADING_MARKERS.match(sentence)
            if leading and found:
                before = found[-1]
                found[-1] = Claim(before.text, (*before.cites, *_numbers_cited(leading[0])))
            body = sentence[leading.end() :] if leading else sentence
            stripped = _MARKER.sub("", body).strip(" \t-*•#>")
            if stripped:
                found.append(Claim(stripped, _numbers_cited(body)))
    return [claim for claim in found if _states_something(claim.text)]


def numbers(text: str) -> frozenset[str]:
    """Its numbers, however their digits are grouped: ``1,000`` is ``1000``, ``2.50`` stays ``2.50``."""
    return frozenset(re.sub(r",(?=\d{3}(?!\d))", "", found) for found in _NUMBER.findall(text))


def negated(text: str) -> bool:
    return len(_NEGATION.findall(text)) % 2 == 1


def stems(text: str) -> frozenset[str]:
    """The beginnings of its words that carry meaning."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _GRAMMAR)


def overlap(claim: str, passage: str) -> float:
    """The share of the claim's words, 0..1, that stand in the passage in whatever form; 1 if it has none."""
    wanted = stems(claim)
    return len(wanted & stems(passage)) / len(wanted) if wanted else 1.0


def nearest_by_words(claim: str, sentences: Sequence[str], limit: int) -> list[str]:
    """The sentences that share most words with the claim, best first."""
    return sorted(sentences, key=lambda sentence: -overlap(claim, sentence))[:limit]


def _states_something(text: str) -> bool:
    """A word alone ("Yes.") may be right or wrong, but only the question would tell."""
    return not text.endswith(("?", ":")) and (len(stems(text)) > 1 or bool(numbers(text)))


def _numbers_cited(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _MARKER.findall(text))


def contradicted(claim: str, passage: str, nearest: str) -> bool:
    """Whether the claim differs from the passage in what a model hardly sees: a number, a name, a negation.

    ``nearest`` is the passage's sentence nearest to the claim. A negation is compared with a sentence that says nearly
    the same at nearly the same length, as elsewhere it may belong to another part of it.
    """
    if not numbers(claim) <= numbers(passage):
        return True
    folded = passage.casefold()
    if any(name.casefold()[:_STEM] not in folded for name in _NAME.findall(claim)):
        return True
    words, of = len(claim.split()), len(nearest.split())
    alike = overlap(claim, nearest) >= NEARLY_QUOTED and words >= _SAME_LENGTH * of
    return alike and negated(claim) != negated(nearest)
