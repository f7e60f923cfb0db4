"""Texts of every kind, to hold the ONNX graph to the original: made from a seed, so that each run asks the same."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

_EDGES = (
    "", " ", "\n\t", ".", "?!", "a", "I", "0", "\x00", "\u200b", "\ufeff", "�", "ﬁ", "ß", "İ", "e\u0301", "…", "👍",
    "👩‍👩‍👧‍👦", "🏳️‍🌈 🇩🇪", "[CLS]", "[SEP] [PAD] [MASK]", "<script>alert(1)</script>", "https://example.com/a?b=c#d",
    "user@example.com", "1,234.56 €", "SELECT * FROM bots;", "C:\\temp\\a.txt", "don't", "naïve café", "x" * 300,
    "- " * 200,
)  # fmt: skip

# Ranges of code points from which words are made: letters of the script, with nothing unassigned.
_SCRIPTS = (
    (0x61, 0x7A), (0x61, 0x7A), (0x61, 0x7A),  # Latin, as often as the model was taught it
    (0xE0, 0xF6), (0x3B1, 0x3C9), (0x430, 0x44F), (0x5D0, 0x5EA), (0x627, 0x63A), (0x905, 0x939), (0xE01, 0xE2E),
    (0x3042, 0x3093), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x1F600, 0x1F64F),
)  # fmt: skip

_WORDS = """
    the a of to in and is for with on as by from at this that when how what why where does can may must not no all
    any document answer question bot order refund delivery invoice account password reset battery bicycle warranty
    contract policy holiday salary meeting server database index query vector temperature river mountain protein
    virus vaccine Paris Berlin Cairo Tokyo Newton Curie January Monday 2026 1.5 42 % kg km/h API HTTP JSON PDF
    quickly slowly never always blue green large small open closed first last better worse between under over within
    without
""".split()  # noqa: SIM905 - a list of a hundred literals reads worse


def varied_texts(count: int, data: Path | None = None) -> list[str]:
    """``count`` different texts: edges, sentences, mixed scripts, up to far beyond the model's window.

    Passages of the evaluation data are among them (a quarter) when ``data`` is a folder that has any.
    """
    source = random.Random(20_26)  # noqa: S311 - repeatable, not secret
    texts: dict[str, None] = dict.fromkeys(_EDGES)
    if data is not None:
        texts.update(dict.fromkeys(_passages(data, count // 4)))
    while len(texts) < count:
        texts[_made(source)] = None
    return list(texts)[:count]


def _made(source: random.Random) -> str:
    length = int(2 ** source.uniform(0, 8.5))  # 1 to 360 words, short ones most often
    scripts = [source.choice(_SCRIPTS) for _ in range(source.randint(1, 3))]
    known = source.random() < 0.6
    words = (source.choice(_WORDS) if known else _word(source, source.choice(scripts)) for _ in range(length))
    separator = source.choice((" ", " ", " ", "  ", "\n", ", ", ". ", ""))
    return separator.join(words)[:6_000]


def _word(source: random.Random, script: tuple[int, int]) -> str:
    return "".join(chr(source.randint(*script)) for _ in range(source.randint(1, 9)))


def _passages(data: Path, limit: int) -> Iterator[str]:
    files = sorted(data.glob("**/*.passages.jsonl")) + sorted(data.glob("**/*.questions.jsonl"))
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for _, line in zip(range(max(1, limit // len(files))), lines, strict=False):
                record = json.loads(line)
                yield str(record.get("text") or record.get("question") or record.get("query") or "")
