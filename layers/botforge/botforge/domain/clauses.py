"""The single things that a message asks for."""

import re

MAX_CLAUSES = 8
_LEAST_WORDS = 3
_SENTENCE = re.compile(r"(?<=[.?!;])[\"'”]?\s+|\n+")
_AND_THEN = re.compile(
    r",?\s+(?:and\s+then|and\s+also|then|after\s+(?:that|this)|additionally|also|finally|lastly|plus|as\s+well\s+as)\b"
    r",?\s*|,\s+(?:and|but)\s+",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|next|then|also|finally|lastly|and|additionally)\b[,:]?\s*",
    re.IGNORECASE,
)


def clauses(text: str) -> list[str]:
    """The sentences of the text and what is joined in them, at most MAX_CLAUSES; empty if it is of one piece.

    Words that join are known in English alone: another language's sentences are told apart, and no more.
    """
    sentences = _SENTENCE.split(text.strip().strip("\"'“”"))
    parts = [_LEADING.sub("", part).strip(" ,;\"'“”") for sentence in sentences for part in _AND_THEN.split(sentence)]
    found = [part for part in parts if len(part.split()) >= _LEAST_WORDS][:MAX_CLAUSES]
    return found if len(found) > 1 else []
