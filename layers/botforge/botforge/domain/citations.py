"""Citation markers in an answer, each checked against the sources that were given."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.answer import Source

_MARKERS = re.compile(r"[ \t]*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")


@dataclass(frozen=True, slots=True)
class CheckedText:
    text: str
    cited: tuple[Source, ...]  # in the order of their numbers
    removed: int  # markers that named no source


def check_citations(text: str, sources: Sequence[Source]) -> CheckedText:
    """Take out every marker that names no source, and tell which sources the rest name.

    ``[1, 2]`` counts as two markers and is written as ``[1][2]``.
    """
    known = {source.number: source for source in sources}
    cited: set[int] = set()
    removed = 0

    def checked(match: re.Match[str]) -> str:
        nonlocal removed
        numbers = [int(number) for number in re.split(r"\s*[,;]\s*", match[1])]
        valid = [number for number in numbers if number in known]
        removed += len(numbers) - len(valid)
        cited.update(valid)
        space = match[0][: match[0].index("[")] if valid else ""
        return space + "".join(f"[{number}]" for number in valid)

    checked_text = _MARKERS.sub(checked, text)
    return CheckedText(checked_text, tuple(known[number] for number in sorted(cited)), removed)
