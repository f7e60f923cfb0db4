"""Labelled sentences and the tools of make-believe bots, from files that are committed or laid out like them."""

import gzip
import json
import random
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
SENTENCES = DATA / "sentences.jsonl.gz"
TOOLS = DATA / "tools.jsonl.gz"
AUTHORED = DATA / "authored.toml"
SAME_DOMAIN = DATA / "same_domain.toml"

ACT, ASK = "execution", "information_retrieval"


@dataclass(frozen=True, slots=True)
class BotTool:
    key: str
    name: str
    description: str

    @property
    def origin(self) -> str:
        return self.key.split(":", 1)[0]


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    acts: bool
    source: str
    tool: str | None = None  # the key of the tool that it needs
    bot: tuple[str, ...] | None = None  # the keys of its bot's tools; None: drawn at random


@dataclass(frozen=True, slots=True)
class Corpus:
    sentences: tuple[Sentence, ...]
    tools: Mapping[str, BotTool]

    def without(self, sources: Collection[str]) -> "Corpus":
        return Corpus(tuple(one for one in self.sentences if one.source not in sources), self.tools)


def committed() -> Corpus:
    """What the committed weights are trained on."""
    sentences = [
        Sentence(row["text"], row["label"] == ACT, row["source"], row.get("tool"), _keys(row.get("bot")))
        for row in _zipped(SENTENCES)
    ]
    tools = [BotTool(row["key"], row["name"], row["description"]) for row in _zipped(TOOLS)]
    written, their_tools = authored(AUTHORED, "authored")
    return Corpus((*sentences, *written), {tool.key: tool for tool in (*tools, *their_tools)})


def authored(file: Path, source: str) -> tuple[list[Sentence], list[BotTool]]:
    """The sentences of a TOML file of domains, each with its bot's tools; ``sentence | tool: description`` in
    ``acts`` gives the one tool that it needs."""
    sentences: list[Sentence] = []
    tools: dict[str, BotTool] = {}

    def known(domain: str, line: str) -> str:
        name, description = line.split(": ", 1)
        tool = BotTool(f"{source}:{domain}.{name}", name, description)
        return tools.setdefault(tool.key, tool).key

    for domain, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        bot = tuple(known(domain, line) for line in entry["tools"]) or None
        sentences += [Sentence(text, acts=False, source=source, bot=bot) for text in entry["asks"]]
        for line in entry["acts"]:
            text, _, tool = line.partition(" | ")
            sentences.append(
                Sentence(text, acts=True, source=source, tool=known(domain, tool) if tool else None, bot=bot)
            )
    return sentences, list(tools.values())


def with_bots(
    sentences: Sequence[Sentence], pool: Sequence[str], sizes: Sequence[int], generator: random.Random
) -> list[tuple[str, ...]]:
    """For each sentence the tools of a bot: its own, or the one it needs and others at random."""
    bots: list[tuple[str, ...]] = []
    for sentence in sentences:
        if sentence.bot is not None:
            bots.append(sentence.bot)
            continue
        size = generator.choice(sizes)
        own = [] if sentence.tool is None else [sentence.tool]
        drawn = generator.sample(pool, size + 1)
        bots.append(tuple([*own, *(key for key in drawn if key not in own)][:size]))
    return bots


def capped(sentences: Sequence[Sentence], cap: int, generator: random.Random) -> list[Sentence]:
    """At most ``cap`` of each source and label, at random, in the order in which they came."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for number, sentence in enumerate(sentences):
        groups.setdefault((sentence.source, sentence.acts), []).append(number)
    kept: set[int] = set()
    for numbers in groups.values():
        kept |= set(numbers if len(numbers) <= cap else generator.sample(numbers, cap))
    return [sentence for number, sentence in enumerate(sentences) if number in kept]


def lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as opened:
        yield from (json.loads(line) for line in opened if line.strip())


def _zipped(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        yield from (json.loads(line) for line in opened)


def _keys(bot: list[str] | None) -> tuple[str, ...] | None:
    return None if bot is None else tuple(bot)
