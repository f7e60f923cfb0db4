"""``python -m botforge_dev.calibration.reranking --data FOLDER [--split dev]``: what the sentence reranker gives.

Recall@1 / recall@5 / nDCG@10 of documents by weight, through the product's search and reranking; and how long it takes
for one question on this machine.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from botforge.adapters.reranking.sentences import SentenceReranker
from botforge.domain.chunk import Candidate
from botforge.domain.deadline import Deadline
from botforge.domain.fusion import cosine_floor, fuse
from botforge.ports.embedding import Embedder
from botforge.services.reranking import Reranking
from botforge_dev.calibration.laboratories import laboratory
from botforge_dev.evaluation.datasets import LabelledQuestion, question_sets
from botforge_dev.evaluation.metrics import first_occurrences, mean, ndcg_at, recall_at
from botforge_dev.evaluation.remembering import Remembering

_WEIGHTS = (0.0, 0.25, 0.5, 1.0)
_TIMED = 40


def ordered(text: str, candidates: Sequence[Candidate], embedder: Embedder, weight: float) -> list[Candidate]:
    """As services/retrieval.py orders them."""
    ranked, floor = fuse(candidates), cosine_floor(candidates)
    reranking = Reranking(SentenceReranker(embedder), weight)
    return reranking.ordered(text, ranked, floor=floor, deadline=Deadline.after(600)) if weight else ranked


def figures(asked: Sequence[tuple[LabelledQuestion, Sequence[Candidate]]]) -> str:
    rankings = [(first_occurrences(one.path for one in ranked), question.gold) for question, ranked in asked]
    values = (
        mean(recall_at(ranked, gold, 1) for ranked, gold in rankings),
        mean(recall_at(ranked, gold, 5) for ranked, gold in rankings),
        mean(ndcg_at(ranked, gold, 10) for ranked, gold in rankings),
    )
    return " / ".join(f"{value:.3f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description="Judges the sentence reranker.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    chosen = parser.parse_args()
    sets = question_sets(chosen.data, chosen.split)
    cells: dict[float, list[str]] = {weight: [] for weight in _WEIGHTS}
    taken: list[float] = []
    with laboratory() as opened:
        embedder = Remembering(opened.embedder)
        for data in sets:
            bot = opened.indexed(data)
            questions = list(data.questions)
            found = [
                (question, opened.candidates(bot, question.text, vector.vector))
                for question, vector in zip(questions, embedder.embed([one.text for one in questions]), strict=True)
            ]
            for question, candidates in found[:_TIMED]:
                start = time.perf_counter()
                ordered(question.text, candidates, opened.embedder, 1.0)
                taken.append((time.perf_counter() - start) * 1000)
            for weight in _WEIGHTS:
                judged = [(one, ordered(one.text, candidates, embedder, weight)) for one, candidates in found]
                cells[weight].append(figures(judged))
    names = [data.name for data in sets]
    print("| weight | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for weight, row in cells.items():
        print(f"| {weight:g} | " + " | ".join(row) + " |")
    print(f"\n{median(taken):.0f} ms for one question (median of {len(taken)})")


if __name__ == "__main__":
    main()
