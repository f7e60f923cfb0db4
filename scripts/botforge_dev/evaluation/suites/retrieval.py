"""``retrieval``: every passage becomes a document, every question is asked, and its gold document looked for.

Documents are HTML with the passage's title as title and first heading, as a page of a site would be.
"""

import html
import re
from pathlib import Path
from typing import Any

from botforge_dev.evaluation.datasets import LabelledPassage, QuestionSet, question_sets
from botforge_dev.evaluation.metrics import first_occurrences, mean, ndcg_at, recall_at
from botforge_dev.evaluation.product import Document, Product, ProductError, distinct

_MAX_CHUNKS = 20  # the most that the API gives; several can be of one document


def run(product: Product, folder: Path, split: str) -> dict[str, Any]:
    """Recall and nDCG for each question set of the folder, and their means over the sets."""
    figures = {data.name: _measure(product, data) for data in question_sets(folder, split)}
    names = ("recall_at_1", "recall_at_5", "ndcg_at_10")
    return {"sets": figures, "mean": {name: mean(of[name] for of in figures.values()) for name in names}}


def as_document(passage: LabelledPassage, number: int) -> Document:
    """The passage as a page. Its name says nothing: ids can hold what names cannot, and must not help the search."""
    title = html.escape(passage.title or "")
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in re.split(r"\n\s*\n", passage.text))
    heading = f"<h1>{title}</h1>\n" if title else ""
    page = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n{heading}'
    return Document(f"{number:06}.html", f"{page}{paragraphs}</body></html>\n".encode())


def _measure(product: Product, data: QuestionSet) -> dict[str, Any]:
    product.report(f"{data.name}: {len(data.passages)} passages, {len(data.questions)} questions")
    bot = product.create_bot(f"evaluation {data.name}"[:200])
    documents = {passage.id: as_document(passage, number) for number, passage in enumerate(data.passages)}
    read = product.ingest(bot, distinct(documents.values()))
    unread = [item for item in read.values() if item["status"] != "indexed"]
    if unread:
        raise ProductError(f"{data.name}: {unread[0]['path']} is {unread[0]['status']}: {unread[0]['reason']}.")
    ids = {document.filename: passage for passage, document in documents.items()}

    def ranking(question: str) -> list[str]:
        reply = product.query(bot, question, max_chunks=_MAX_CHUNKS, threshold=0)
        found = sorted([*reply["sources"], *reply["retrieved"]], key=lambda source: source["number"])
        return first_occurrences(ids[source["path"]] for source in found)

    rankings = product.each(ranking, [question.text for question in data.questions])
    asked = list(zip(rankings, (question.gold for question in data.questions), strict=True))
    product.delete_bot(bot)
    figures = {
        "passages": len(data.passages),
        "questions": len(data.questions),
        "recall_at_1": mean(recall_at(ranked, gold, 1) for ranked, gold in asked),
        "recall_at_5": mean(recall_at(ranked, gold, 5) for ranked, gold in asked),
        "ndcg_at_10": mean(ndcg_at(ranked, gold, 10) for ranked, gold in asked),
    }
    product.report(f"{data.name}: {figures}")
    return figures
