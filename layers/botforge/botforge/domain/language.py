"""Which language a text is in, as far as a search has to know: whether question and passage speak the same.

By script, and for the languages of the Latin script by function words, which stand in every sentence and seldom in
another language's. A text that gives no sign of either kind has no known language: nothing is decided from it.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

_LEAST_HITS = 2  # different function words that a text must have before it counts as a language
_READ = 1_000  # characters: the beginning tells
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

# Letters of a script; a text is in it if they are half of its letters. Chinese and Japanese share characters, so kana
# are looked for first.
_SCRIPTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "ja": re.compile(r"[\u3040-\u30ff]"),
        "zh": re.compile(r"[\u3400-\u9fff]"),
        "ko": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
        "ar": re.compile(r"[\u0600-\u06ff\u0750-\u077f]"),
        "he": re.compile(r"[\u0590-\u05ff]"),
        "hi": re.compile(r"[\u0900-\u097f]"),
        "th": re.compile(r"[\u0e00-\u0e7f]"),
        "el": re.compile(r"[\u0370-\u03ff]"),
        "cyrillic": re.compile(r"[\u0400-\u04ff]"),
    }
)
_LEAST_KANA = 0.1  # of Japanese letters: the rest can be Chinese characters

# Words that stand in one of these languages alone, or all but; those that two of them share say nothing.
_FUNCTION_WORDS: Mapping[str, str] = MappingProxyType({
    "en": """
        the of and to is are was were what which who whom whose how when where why does did do has have had with from
        by for this that these those there their they it its he she his her you your can could should would will many
        much than into about after before because been not or if my me we our
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und ist sind waren wurde wurden wird werden wer wie
        wann wo warum welche welcher welches welchem welchen nicht mit von vom zu zum zur auf für im bei nach aus als
        auch ich sie wir ihr sich hat haben hatte viele viel kann können soll über durch um dass wenn oder
    """,
    "es": """
        el los las una unos del al qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo por
        para con es son fue fueron era eran está están ha han había su sus se lo como más pero sobre entre según y
        que en de
    """,
    "fr": """
        le les des du au aux une est sont était étaient été qui quoi quel quelle quels quelles quand où comment
        pourquoi combien avec pour dans par sur et ce cette ces il elle ils elles ont ne pas leur leurs
        je vous nous
    """,
    "it": """
        il gli della delle dello dei degli alla alle nel nella è sono era erano chi quale quali quando dove perché
        quanto quanti quante che di da per con non più come stato stata suo sua loro ha hanno
    """,
    "pt": """
        os um uma dos da das na nos nas é são foi foram quem qual quais quando onde quanto quantos
        quantas por para com não mais ao à seu sua seus suas
    """,
    "nl": """
        het een van de en is zijn was waren wie wat welke wanneer waar waarom hoe hoeveel met voor op naar bij uit
        niet ook wordt werden werd heeft hebben had door dat deze
    """,
})  # fmt: skip
_KNOWN = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}


def language(text: str) -> str | None:
    """A code of a language, or of a script where several languages write in it; None if the text gives no sign."""
    beginning = text[:_READ].casefold()
    letters = sum(character.isalpha() for character in beginning)
    if not letters:
        return None
    for code, pattern in _SCRIPTS.items():
        share = len(pattern.findall(beginning)) / letters
        if share >= (_LEAST_KANA if code == "ja" else 0.5):
            return code
    words = set(_WORD.findall(beginning))  # each once: a name such as “Los Angeles” can stand in every sentence
    hits = {code: len(words & known) for code, known in _KNOWN.items()}
    (first, most), (_, next_most) = sorted(hits.items(), key=lambda pair: -pair[1])[:2]
    return first if most >= _LEAST_HITS and most > next_most else None


def in_one_language(text: str, other: str) -> bool:
    """Whether both have a known language, and the same."""
    known = language(text)
    return known is not None and known == language(other)


def in_another_language(text: str, other: str) -> bool:
    """Whether both have a known language, and not the same."""
    known = {language(text), language(other)}
    return len(known) == 2 and None not in known
