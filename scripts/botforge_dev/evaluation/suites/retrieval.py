"""``retrieval``: every passage becomes a document, every question is asked, and its gold document looked for.

In a set of long documents, the passage that holds the answer's very characters is looked for as well.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from botforge_dev.evaluation.datasets import LabelledPassage, LabelledQuestion, question_sets
from botforge_dev.evaluation.metrics import first_occurrences, mean, ndcg_at, recall_at
from botforge_dev.evaluation.product import Product
from botforge_dev.evaluation.suites.pages import Indexed, index

_MAX_CHUNKS = 20  # the most that the API gives; several can be of one document
_TOP = 5
_LONG = 5  # chunks a document on average, above which finding the document is not yet finding the answer

_FIGURES = ("recall_at_1", "recall_at_5", "ndcg_at_10")
_ANSWER_FIGURES = ("answer_chunk_recall_at_5", "answer_chunk_recall_at_5_in_document")


def run(product: Product, folder: Path, split: str) -> dict[str, Any]:
    """Recall and nDCG for each question set of the folder, and their means over the sets that have them."""
    figures: dict[str, dict[str, Any]] = {}
    for data in question_sets(folder, split):
        indexed = index(product, data)
        figures[data.name] = _measure(product, indexed)
        product.delete_bot(indexed.bot)
        product.report(f"{data.name}: {figures[data.name]}")
    means = {
        name: mean(of[name] for of in figures.values() if name in of)
        for name in (*_FIGURES, *_ANSWER_FIGURES)
        if any(name in of for of in figures.values())
    }
    return {"sets": figures, "mean": means}


def _measure(product: Product, indexed: Indexed) -> dict[str, Any]:
    data = indexed.data
    found = product.each(lambda one: _ranked(product, indexed.bot, one.text, _MAX_CHUNKS), list(data.questions))
    rankings = [first_occurrences(indexed.passages[source["path"]] for source in sources) for sources in found]
    asked = list(zip(rankings, (question.gold for question in data.questions), strict=True))
    figures: dict[str, Any] = {
        "passages": len(data.passages),
        "questions": len(data.questions),
        "chunks": indexed.chunks,
        "recall_at_1": mean(recall_at(ranked, gold, 1) for ranked, gold in asked),
        "recall_at_5": mean(recall_at(ranked, gold, 5) for ranked, gold in asked),
        "ndcg_at_10": mean(ndcg_at(ranked, gold, 10) for ranked, gold in asked),
    }
    located = [
        (question, sources)
        for question, sources in zip(data.questions, found, strict=True)
        if question.answer_start is not None and question.answers and len(question.gold) == 1
    ]
    if located and indexed.chunks > _LONG * len(data.passages):
        figures |= _answers(product, indexed, located)
    return figures


def _answers(
    product: Product, indexed: Indexed, located: Sequence[tuple[LabelledQuestion, Sequence[dict[str, Any]]]]
) -> dict[str, float]:
    passages = {passage.id: passage for passage in indexed.data.passages}

    def holds(question: LabelledQuestion, sources: Sequence[dict[str, Any]]) -> float:
        (gold,) = question.gold
        own = [source["text"] for source in sources[:_TOP] if indexed.passages[source["path"]] == gold]
        return float(any(holds_answer(text, question, passages[gold]) for text in own))

    def within(question: LabelledQuestion) -> float:
        (gold,) = question.gold
        document = indexed.documents[gold]
        return holds(question, _ranked(product, indexed.bot, question.text, _TOP, document))

    inside = product.each(within, [question for question, _ in located])
    return {
        "answer_chunk_recall_at_5": mean(holds(question, sources) for question, sources in located),
        "answer_chunk_recall_at_5_in_document": mean(inside),
    }


def _ranked(product: Product, bot: str, text: str, limit: int, document: str | None = None) -> list[dict[str, Any]]:
    """All passages that the product would answer from, best first, whether it cited them or not."""
    reply = product.query(bot, text, max_chunks=limit, threshold=0, document=document)
    return sorted([*reply["sources"], *reply["retrieved"]], key=lambda source: source["number"])


def holds_answer(text: str, question: LabelledQuestion, passage: LabelledPassage) -> bool:
    """Whether the text, cut from the passage, covers the characters of the answer; white space may differ.

    The same words elsewhere in the passage do not count.
    """
    title, whole, part = _solid(passage.title or ""), _solid(passage.text), _solid(text)
    start = len(title) + len(_solid(passage.text[: question.answer_start]))
    end = start + len(_solid(question.answers[0]))
    page, at = title + whole, -1
    while (at := page.find(part, at + 1)) >= 0:
        if at <= start and end <= at + len(part):
            return True
    return False


def _solid(text: str) -> str:
    return re.sub(r"\s+", "", text)
