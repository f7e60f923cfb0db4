"""``python -m botforge_dev.routing.collecting --data FOLDER``: the committed training data, out of the public sources.

``FOLDER`` holds ``pool/{source}.jsonl``, ``tools.jsonl`` and ``tool_conditional.jsonl``. ``data/README.md`` names the
sources and their licences.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from botforge_dev.routing.corpus import ACT, SENTENCES, TOOLS, BotTool, Corpus, Sentence, capped, lines

# The prefix of the keys of the tools that a source's sentences need; None: they need none.
SOURCES = {
    "bfcl_nonlive": "bfcl_nonlive",
    "clinc150": "assist",
    "covid_faq": None,
    "metatool_negative": None,
    "metatool_positive": "metatool_positive",
    "nq_open": None,
    "pubmedqa": None,
}
# Never trained on: they show how the router does on sources that it has not seen. snips2017 has no licence file.
HELD_OUT = {"apibank": "apibank", "sgd": "sgd", "snips2017": "assist", "trec_cast": None, "webquestions": None}
CONDITIONAL = "tool_conditional"

_CAP = 1000
_SEED = 20260101


def read(folder: Path, sources: Iterable[str], *, conditional: bool = True) -> Corpus:
    """All sentences of ``sources``, and the tools of all."""
    prefixes = {**SOURCES, **HELD_OUT}
    tools = {row["key"]: BotTool(row["key"], row["name"], row["description"]) for row in lines(folder / "tools.jsonl")}
    sentences: list[Sentence] = []
    for source in sources:
        for row in lines(folder / "pool" / f"{source}.jsonl"):
            tool = f"{prefixes[source]}:{row['needs']}" if row["label"] == ACT else None
            sentences.append(Sentence(row["text"], row["label"] == ACT, source, tool))
    if conditional:
        for row in lines(folder / "tool_conditional.jsonl"):
            served = _added(tools, row["tool"])
            others = tuple(_added(tools, other) for other in row["other_tools"])
            sentences.append(Sentence(row["text"], acts=True, source=CONDITIONAL, tool=served, bot=(served, *others)))
            sentences.append(Sentence(row["text"], acts=False, source=CONDITIONAL, bot=others))
    return Corpus(tuple(sentences), tools)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the committed training data.")
    parser.add_argument("--data", type=Path, required=True)
    folder: Path = parser.parse_args().data
    corpus = read(folder, SOURCES)
    kept = capped(corpus.sentences, _CAP, random.Random(_SEED))  # noqa: S311 - a sample, no secret
    needed = {key for one in kept for key in (one.tool, *(one.bot or ())) if key is not None}
    origins = {prefix for prefix in SOURCES.values() if prefix is not None}
    tools = [tool for tool in corpus.tools.values() if tool.key in needed or tool.origin in origins]
    _write(SENTENCES, [_row(sentence) for sentence in kept])
    _write(TOOLS, [{"key": tool.key, "name": tool.name, "description": tool.description} for tool in tools])


def _added(tools: dict[str, BotTool], entry: dict[str, str]) -> str:
    key = f"{CONDITIONAL}:{entry['name']}:{entry['description']}"
    return tools.setdefault(key, BotTool(key, entry["name"], entry["description"])).key


def _row(sentence: Sentence) -> dict[str, Any]:
    row: dict[str, Any] = {"text": sentence.text, "source": sentence.source}
    row["label"] = ACT if sentence.acts else "information_retrieval"
    if sentence.tool is not None:
        row["tool"] = sentence.tool
    if sentence.bot is not None:
        row["bot"] = sentence.bot
    return row


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    """Compressed without a time stamp: the same rows give the same bytes."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
