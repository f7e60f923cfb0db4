"""Words that a question and a sentence share."""

import re

_WORD = re.compile(r"\w{3,}")


def terms(text: str) -> frozenset[str]:
    """The text's words of three letters or more, without regard to case."""
    return frozenset(_WORD.findall(text.casefold()))


def shared_terms(question: str, text: str) -> int:
    return len(terms(question) & terms(text))
