"""Where sentences end, in scripts with and without spaces."""

import re

# A full stop ends a sentence before white space and something that can begin one; after an abbreviation, an initial
# or a number it does not. Ideographic stops end a sentence wherever they stand.
_ABBREVIATIONS = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "e.g", "i.e", "cf", "al", "fig", "eq", "no", "vol"}
    | {"pp", "ed", "eds", "inc", "ltd", "co", "corp", "approx", "dept", "est", "jan", "feb", "mar", "apr", "jun", "jul"}
    | {"aug", "sep", "sept", "oct", "nov", "dec", "z.b", "d.h", "bzw", "ca", "nr", "bspw", "usw", "u.a"}
)
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s+)|[。！？｡؟।]+[\"'”’»」』）]*|\n{2,}")
_NEXT = re.compile(r"\s*(\S)")
_LAST_WORD = re.compile(r"(\S+)$")


def split_sentences(text: str) -> list[str]:
    """The text's sentences in order, without the white space between them."""
    return [text[start:end].strip() for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The (start, end) offsets of the text's sentences; together with white space they cover all of it."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match[0].startswith(".") and _continues(text, match):
            continue
        if text[start : match.end()].strip():
            spans.append((start, match.end()))
            start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _continues(text: str, match: re.Match[str]) -> bool:
    """Whether the full stop belongs to its word: an abbreviation, an initial, or what follows is lower case."""
    following = _NEXT.match(text, match.end())
    if following and following[1].islower():
        return True
    before = _LAST_WORD.search(text[max(0, match.start() - 30) : match.start()])
    word = before[1].lstrip("([\"'").lower() if before else ""
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())
