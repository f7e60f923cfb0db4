"""``./scripts/bench [--quick] [--only NAME]``: run the benchmarks and write ``docs/benchmarks.md``."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge_dev.benchmarks import (
    agent,
    contestants,
    corpus,
    embedding,
    faults,
    init,
    query,
    recall,
    report,
    selection,
)
from botforge_dev.benchmarks.measuring import BenchmarkFailed
from botforge_dev.benchmarks.tables import Tables
from botforge_dev.build.layout import ROOT
from botforge_dev.build.toolchain import BuildFailed

_NAMES = ("embedding", "init", "query", "recall", "selection", "agent", "faults")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 10,000 chunks at most, nothing written")
    parser.add_argument("--only", choices=_NAMES, action="append", help="this benchmark alone, nothing written")
    options = parser.parse_args(arguments)
    try:
        found = _run(options.only or _NAMES, quick=options.quick)
    except (BenchmarkFailed, BuildFailed) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if options.quick or options.only:
        return 0
    target = ROOT / "docs" / "benchmarks.md"
    target.write_text(report.markdown(found), encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}")
    return 0


def _run(names: "tuple[str, ...] | list[str]", *, quick: bool) -> dict[str, Any]:
    if list(names) == ["faults"]:  # it has no opponent
        return _told({"faults": faults.run(quick=quick)})
    mine, theirs = contestants.ours(), contestants.opponents()
    if list(names) == ["agent"]:  # it needs no passages and no database
        return _told({"agent": agent.run(mine, theirs, quick=quick)})
    texts = corpus.load(mine.model_dir, quick=quick)
    tables = Tables(theirs, texts, (1_000, 10_000) if quick else (1_000, 10_000, 100_000))
    benchmarks: dict[str, Callable[[], dict[str, Any]]] = {
        "embedding": lambda: embedding.run(mine, theirs, texts, quick=quick),
        "init": lambda: init.run(mine, theirs, tables, quick=quick),
        "query": lambda: query.run(mine, theirs, texts, tables, quick=quick),
        "recall": lambda: recall.run(mine, texts, tables, quick=quick),
        "selection": lambda: selection.run(texts, tables, OnnxEmbedder(mine.model_dir), quick=quick),
        "agent": lambda: agent.run(mine, theirs, quick=quick),
        "faults": lambda: faults.run(quick=quick),
    }
    found: dict[str, Any] = {"machine": report.machine(mine), "source": texts.source, "passages": len(texts.passages)}
    try:
        if set(names) - {"embedding", "agent", "faults"}:
            tables.start()
        for name in names:
            start = time.monotonic()
            found[name] = benchmarks[name]()
            print(f"{name}: {time.monotonic() - start:.0f} s\n{json.dumps(found[name], indent=2)}", flush=True)
    finally:
        tables.stop()
    return found


def _told(found: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps(found, indent=2), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
