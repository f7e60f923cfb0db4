"""Whether a message needs what was said before it, and what a search without an LLM makes of it then.

Joining a message to the question before it finds what a follow-up means, and loses what a question of its own asks for:
so the rule would rather miss a follow-up than join a question that stands alone. ``docs/retrieval.md`` has both
figures, ``python -m botforge_dev.calibration.followups`` makes them.
"""

import re
from collections.abc import Sequence

from botforge.domain.clipping import estimated_tokens
from botforge.domain.conversation import Turn
from botforge.domain.language import language

_JOINED_TOKENS = 60  # of the earlier question: it must not drown the follow-up
_FEW_WORDS = 1  # that say something, in English
_FEW_FOREIGN_WORDS = 4  # of any kind, in a language whose function words are not told apart here
_FEW_LETTERS = 6  # in a script that puts no spaces between words
_WITHOUT_SPACES = frozenset({"zh", "ja", "th"})

_WORD = re.compile(r"[^\W_]+")
_SAY_NOTHING = frozenset(
    re.findall(
        r"\S+",
        """
        what which who whom whose how when where why does did do has have had is are was were be been will would can
        could should may might the a an of in on at to for from by with about and or it its this that there any some
        your you my me i we us our much many long more tell please
        """,
    )
)
_GOES_ON = re.compile(
    r"^\W*(?:and|but|or|so|what about|how about|what else|why not|yes|no|ok|okay|sure|please"
    r"|und|oder|aber|ja|nein|y|o|pero|sí|et|ou|mais|oui|non|e|ma)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[A-Z0-9][\w-]*")  # not the first word, which is written with a capital in any case
# "It" that stands for nothing said before: "is it safe to …", "how long does it take to …".
_EMPTY_IT = re.compile(
    r"\b(?:is|was|would|does|will|can|could)\s+it\s+(?:be\s+|really\s+|just\s+)?"
    r"(?:better|best|necessary|needed|time|possible|impossible|worth|safe|true|important|normal|common|good|bad|ok|okay"
    r"|hard|easy|legal|illegal|appropriate|feasible|useful)\b"
    r"|\bit\s+(?:is|was)\s+(?:\w+ly\s+)?(?:possible|necessary|known|said|believed|thought)\b"
    r"|\bit\s+(?:take|cost)s?\s+(?:for|to)\b",
    re.IGNORECASE,
)
# Words that point only where they stand alone: "after that", "that one", but not "the virus that" or "is there".
_POINTS = re.compile(
    r"\b(?:about|of|for|with|like|after|before|than|by|from|to|in|on|is|was|are|were|does|do|did)\s+(?:that|those)"
    r"(?=\W*$|\s+(?:is|was|were|mean|happen|work|one|take|too)\b)"
    r"|^\W*(?:that|those)\b|\b(?:this|these)\b|\bthe (?:former|latter)\b(?!\s+\w)"
    r"|\b(?:that|which|the other|another) ones?\b|\bthe same\W*$|\b(?:what|who|anything) else\W*$"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )\bthere\W*$",
    re.IGNORECASE,
)

_WHAT_IS = re.compile(
    r"\W*(?:what|who|where)(?:'s|\s+(?:is|are|was|were))\s+(?:(?:the|an?)\s+)?(\w+)\W*$", re.IGNORECASE
)


def is_follow_up(text: str) -> bool:
    """Whether the message goes on from the one before, points back to it, or hardly says anything of its own."""
    return bool(_GOES_ON.match(text)) or _says_little(text) or _points_back(text)


def joined(turns: Sequence[Turn], text: str) -> str:
    """The message behind the question before it: what a search without an LLM can make of a follow-up."""
    return "\n".join([*(_beginning(turn.question) for turn in turns[-1:]), text])


def _says_little(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    spoken = language(text)
    if spoken in _WITHOUT_SPACES:
        return sum(map(len, words)) <= _FEW_LETTERS
    if spoken is not None and spoken != "en":
        return len(words) <= _FEW_FOREIGN_WORDS
    telling = [word for word in words if word not in _SAY_NOTHING]
    return not telling or (len(telling) <= _FEW_WORDS and not _asks_what_something_is(text))


def _asks_what_something_is(text: str) -> bool:
    """Such as "What is anaemia?": one telling word, and it needs no other."""
    asked = _WHAT_IS.match(text)
    return asked is not None and _PRONOUN.fullmatch(asked[1]) is None


def _points_back(text: str) -> bool:
    """A pronoun before which the message names nothing that it could mean, or another word that points."""
    meant = _EMPTY_IT.sub(" ", text)
    pronoun = _PRONOUN.search(meant)
    if pronoun is not None and _NAME.search(meant[: pronoun.start()]) is None:
        return True
    return bool(_POINTS.search(text))


def _beginning(text: str) -> str:
    while estimated_tokens(text) > _JOINED_TOKENS:
        text = text[: len(text) * 3 // 4]
    return text
