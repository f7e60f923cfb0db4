"""``python -m botforge_dev.routing.training.study --data FOLDER``: every source left out in turn, over all the pools.

For each source a head is trained on all others (its kin left out too, its tools never seen; snips2017, which has no
licence file, is trained on by none), and judged on up to 2,000 of its sentences, each to a bot with eight tools: the
one that it needs and seven at random, or eight at random. Prints JSON, one line a source, then the means.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from botforge.adapters.routing.head import RoutingHead
from botforge.adapters.routing.weights import Weights
from botforge_dev.routing.collecting import HELD_OUT, SOURCES, read
from botforge_dev.routing.corpus import AUTHORED, Corpus, authored, capped, lines
from botforge_dev.routing.training.embedding import KeptEmbedder
from botforge_dev.routing.training.fitting import KIN, bots, evidence, fit
from botforge_dev.routing.training.measured import Measured

_TRAINED, _JUDGED = 1_000, 2_000  # sentences of each source and label, at most
_UNLICENSED = "snips2017"
_BINS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description="Leaves every source out in turn.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sources", nargs="*")
    chosen = parser.parse_args()
    embed = KeptEmbedder()
    judged = measured(chosen.data, _JUDGED, embed)
    trained = measured(chosen.data, _TRAINED, embed)
    hard = {row["text"] for name in (*SOURCES, *HELD_OUT) for row in _pool(chosen.data, name) if row["hard"]}
    results: list[dict[str, Any]] = []
    for source in chosen.sources or sorted((*SOURCES, *HELD_OUT)):
        kin = next((group for group in KIN if source in group), (source,))
        own = {**SOURCES, **HELD_OUT}[source]
        banned = {"same_domain", *([own] if own not in {None, "assist"} else [])}
        others = [name for name in np.unique(trained.sources) if name not in {*kin, _UNLICENSED}]
        head = RoutingHead(Weights(embed.model_id, fit(trained, others, banned_tools=banned).arrays))
        results.append(judge(head, judged, source, hard))
        print(json.dumps(results[-1]), flush=True)
    names = ("accuracy", "accuracy_hard", "accuracy_at_90", "ece")
    known = {name: [one[name] for one in results if one[name] is not None] for name in names}
    print(json.dumps({"mean": {name: round(float(np.mean(values)), 4) for name, values in known.items()}}))


def measured(folder: Path, cap: int, embed: KeptEmbedder) -> Measured:
    corpus = read(folder, sorted((*SOURCES, *HELD_OUT)))
    kept = capped(corpus.sentences, cap, random.Random(1))  # noqa: S311 - reproducible on purpose
    written, tools = authored(AUTHORED, "authored")
    return Measured.of(Corpus((*kept, *written), {**corpus.tools, **{tool.key: tool for tool in tools}}), embed)


def judge(head: RoutingHead, data: Measured, source: str, hard: set[str]) -> dict[str, Any]:
    rows = data.rows([source])
    tools = bots(data, rows, (), 1, sizes=(8,))
    texts = [data.corpus.sentences[row].text for row in rows]
    said = np.array([
        head.p_execution(text, data.vectors[row], evidence(data, row, bot))
        for text, row, bot in zip(texts, rows, tools, strict=True)
    ])  # fmt: skip
    acts = data.acts[rows]
    right = (said > 0.5) == acts
    sure = np.argsort(-np.abs(said - 0.5), kind="stable")[: max(1, int(0.9 * len(rows)))]
    difficult = np.array([text in hard for text in texts])
    bins = np.minimum(_BINS - 1, (said * _BINS).astype(int))
    error = sum(abs(said[bins == each].sum() - acts[bins == each].sum()) for each in range(_BINS)) / len(rows)
    return {
        "source": source,
        "messages": len(rows),
        "accuracy": round(float(right.mean()), 4),
        "accuracy_hard": round(float(right[difficult].mean()), 4) if difficult.any() else None,
        "accuracy_at_90": round(float(right[sure].mean()), 4),
        "ece": round(float(error), 4),
    }


def _pool(folder: Path, source: str) -> list[dict[str, Any]]:
    return list(lines(folder / "pool" / f"{source}.jsonl"))


if __name__ == "__main__":
    main()
