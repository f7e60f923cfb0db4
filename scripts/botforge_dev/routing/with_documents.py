"""``python -m botforge_dev.routing.with_documents [--pictures FILE.svg]``: bots with documents and tools of one domain.

Routes the messages of ``data/same_domain.toml`` as the product does, once without the bots' documents and once with
their evidence, and prints both as JSON. Documents are searched in a database of its own, each as a page of its own.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botforge.domain.fusion import fuse
from botforge.domain.ids import BotId
from botforge.domain.relevance import relevance
from botforge_dev.calibration.laboratories import laboratory
from botforge_dev.calibration.samples import Laboratory
from botforge_dev.calibration.study import floor_of
from botforge_dev.evaluation.datasets import LabelledPassage, QuestionSet
from botforge_dev.evaluation.suites.routing import routed
from botforge_dev.routing import same_domain
from botforge_dev.routing.corpus import SAME_DOMAIN
from botforge_dev.routing.drawing import drawn
from botforge_dev.routing.outcomes import Message, Outcome, figures


def main() -> None:
    parser = argparse.ArgumentParser(description="What a bot's documents tell its router.")
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    without, with_them = outcomes()
    print(json.dumps({"without documents": by_label(without), "with documents": by_label(with_them)}, indent=2))
    if chosen.pictures:
        chosen.pictures.write_text(drawn(with_them), encoding="utf-8")


def outcomes() -> tuple[list[Outcome], list[Outcome]]:
    """Of every message: without the documents, and with their evidence."""
    with tempfile.TemporaryDirectory() as name, laboratory() as opened:
        folder = Path(name)
        same_domain.write(folder)
        bots = _indexed(opened)

        def best_passage(message: Message) -> float:
            vector = opened.embedder.embed([message.text])[0].vector
            candidates = opened.candidates(bots[message.source], message.text, vector)
            floor = floor_of(candidates)
            return max(relevance(one, floor=floor) for one in fuse(candidates, floor=floor))

        return (
            routed(folder, same_domain.SPLIT, _report),
            routed(folder, same_domain.SPLIT, _report, best_passage=best_passage),
        )


def by_label(of: list[Outcome]) -> Mapping[str, Any]:
    labels = {"action": True, "knowledge": False}
    return {
        "all": figures(of),
        **{name: figures([one for one in of if one.message.acts == acts]) for name, acts in labels.items()},
    }


def _indexed(opened: Laboratory) -> dict[str, BotId]:
    """A bot for each domain, by the domain's name."""
    domains: dict[str, Any] = tomllib.loads(SAME_DOMAIN.read_text(encoding="utf-8"))
    return {
        name: opened.indexed(
            QuestionSet(name, tuple(LabelledPassage(str(n), None, text) for n, text in enumerate(texts)), ())
        )
        for name, texts in ((name, of["documents"]) for name, of in domains.items())
    }


def _report(line: str) -> None:
    print(f"  {line}", file=sys.stderr)


if __name__ == "__main__":
    main()
