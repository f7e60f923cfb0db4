"""``python -m botforge_dev.routing.training.study --data FOLDER``: every source left out in turn, over all the pools.

For each source a head is trained on all others (its kin left out too, its tools never seen; snips2017, which has no
licence file, is trained on by none), and judged on up to 2,000 of its sentences of each label, each to a bot with eight
tools: the one that it needs and seven at random, or eight at random. Prints JSON, one line a source, then the means;
``--pictures FILE.svg`` draws what ``botforge_dev.routing.pictures`` draws, a row a source. Run it with the Python of
``.build/routing``, which ``scripts/train_router`` makes.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

from botforge.adapters.routing.head import RoutingHead
from botforge.adapters.routing.weights import Weights
from botforge.domain.routing import DecidedBy, Routing
from botforge_dev.evaluation.metrics import mean
from botforge_dev.routing.collecting import HELD_OUT, SOURCES, read
from botforge_dev.routing.corpus import AUTHORED, Corpus, authored, capped, lines
from botforge_dev.routing.drawing import drawn
from botforge_dev.routing.outcomes import Message, Outcome, figures
from botforge_dev.routing.training.embedding import KeptEmbedder
from botforge_dev.routing.training.fitting import KIN, bots, evidence, fit
from botforge_dev.routing.training.measured import Measured

_TRAINED, _JUDGED = 1_000, 2_000  # sentences of each source and label, at most
_UNLICENSED = "snips2017"
_MEANS = ("accuracy", "accuracy_hard", "accuracy_at_90", "ece")


def main() -> None:
    parser = argparse.ArgumentParser(description="Leaves every source out in turn.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sources", nargs="*")
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    embed = KeptEmbedder()
    judged = measured(chosen.data, _JUDGED, embed)
    trained = measured(chosen.data, _TRAINED, embed)
    pools = [lines(chosen.data / "pool" / f"{name}.jsonl") for name in (*SOURCES, *HELD_OUT)]
    hard = {row["text"] for pool in pools for row in pool if row["hard"]}
    outcomes: list[Outcome] = []
    results: list[dict[str, float | None]] = []
    for source in chosen.sources or sorted((*SOURCES, *HELD_OUT)):
        kin = next((group for group in KIN if source in group), (source,))
        own = {**SOURCES, **HELD_OUT}[source]
        banned = {"same_domain", *([own] if own not in {None, "assist"} else [])}
        others = [name for name in np.unique(trained.sources) if name not in {*kin, _UNLICENSED}]
        head = RoutingHead(Weights(embed.model_id, fit(trained, others, banned_tools=banned).arrays))
        outcomes += judge(head, judged, source, hard)
        results.append(figures([one for one in outcomes if one.message.source == source]))
        print(json.dumps({"source": source, **results[-1]}), flush=True)
    known = {name: [value for one in results if (value := one[name]) is not None] for name in _MEANS}
    print(json.dumps({"mean": {name: round(mean(values), 4) for name, values in known.items()}}))
    if chosen.pictures:
        chosen.pictures.write_text(drawn(outcomes), encoding="utf-8")


def measured(folder: Path, cap: int, embed: KeptEmbedder) -> Measured:
    corpus = read(folder, sorted((*SOURCES, *HELD_OUT)))
    kept = capped(corpus.sentences, cap, random.Random(1))  # noqa: S311 - reproducible on purpose
    written, tools = authored(AUTHORED, "authored")
    return Measured.of(Corpus((*kept, *written), {**corpus.tools, **{tool.key: tool for tool in tools}}), embed)


def judge(head: RoutingHead, data: Measured, source: str, hard: set[str]) -> list[Outcome]:
    rows = data.rows([source])
    outcomes: list[Outcome] = []
    for row, tools in zip(rows, bots(data, rows, (), 1, sizes=(8,)), strict=True):
        sentence = data.corpus.sentences[row]
        said = head.p_execution(sentence.text, data.vectors[row], evidence(data, row, tools))
        keys = tuple(data.keys[number] for number in tools)
        message = Message(sentence.text, sentence.acts, source, sentence.text in hard, keys)
        outcomes.append(Outcome(message, Routing(said, DecidedBy.ROUTER)))
    return outcomes


if __name__ == "__main__":
    main()
