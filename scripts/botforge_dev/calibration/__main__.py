"""``python -m botforge_dev.calibration --data FOLDER [--split dev] [--samples FILE]``.

Asks every set's questions of its own documents and of the other sets', in a database of its own, through the
product's chunking, embedding and search; prints the tables of ``docs/retrieval.md`` and the weights of
``domain/relevance.py``. ``--samples`` keeps what was found, or takes it from there if the file exists.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from botforge.domain.bot import DEFAULT_SIMILARITY_THRESHOLD
from botforge_dev.calibration.laboratories import laboratory
from botforge_dev.calibration.samples import Sample, load, save
from botforge_dev.calibration.study import best_of, ranking_table, relevance_table, reliability, trained
from botforge_dev.evaluation.datasets import QuestionSet, question_sets


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes and judges the constants of ranking and relevance.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--samples", type=Path)
    chosen = parser.parse_args()
    sets = question_sets(chosen.data, chosen.split)
    if chosen.samples and chosen.samples.exists():
        samples = load(chosen.samples)
    else:
        samples = _collect(sets)
        if chosen.samples:
            save(samples, chosen.samples)
    names = [data.name for data in sets]
    hybrid = trained([best_of(sample) for sample in samples])
    lexical = trained([best_of(sample, dense=False) for sample in samples], dense=False)
    print("\n".join([
        "Recall@1 / recall@5 / nDCG@10\n", *ranking_table(samples, names),
        f"\nWith the threshold {DEFAULT_SIMILARITY_THRESHOLD}\n",
        *relevance_table(samples, names, DEFAULT_SIMILARITY_THRESHOLD), "", *reliability(samples),
        f"\nHYBRID = {hybrid}\nLEXICAL = {lexical}",
    ]))  # fmt: skip


def _collect(sets: Sequence[QuestionSet]) -> list[Sample]:
    with laboratory() as opened:
        return list(opened.samples(sets))


if __name__ == "__main__":
    main()
