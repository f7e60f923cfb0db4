"""A question set in a bot of its own: every passage becomes a page, as a site would have it."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

from botforge_dev.evaluation.datasets import LabelledPassage, QuestionSet
from botforge_dev.evaluation.product import Document, Product, ProductError, distinct


@dataclass(frozen=True, slots=True)
class Indexed:
    """A bot that holds a set's passages."""

    data: QuestionSet
    bot: str
    passages: Mapping[str, str]  # file name → id of the passage
    documents: Mapping[str, str]  # id of the passage → id of the document
    chunks: int


def index(product: Product, data: QuestionSet) -> Indexed:
    """Raises ProductError unless every page is indexed."""
    product.report(f"{data.name}: {len(data.passages)} passages, {len(data.questions)} questions")
    bot = product.create_bot(f"evaluation {data.name}"[:200])
    documents = {passage.id: as_document(passage, number) for number, passage in enumerate(data.passages)}
    read = product.ingest(bot, distinct(documents.values()))
    unread = [item for item in read.values() if item["status"] != "indexed"]
    if unread:
        raise ProductError(f"{data.name}: {unread[0]['path']} is {unread[0]['status']}: {unread[0]['reason']}.")
    return Indexed(
        data=data,
        bot=bot,
        passages={document.filename: passage for passage, document in documents.items()},
        documents={passage: read[document.filename]["document_id"] for passage, document in documents.items()},
        chunks=sum(item["chunk_count"] for item in read.values()),
    )


def as_document(passage: LabelledPassage, number: int) -> Document:
    """The passage as a page. Its name says nothing: ids can hold what names cannot, and must not help the search."""
    title = html.escape(passage.title or "")
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in re.split(r"\n\s*\n", passage.text))
    heading = f"<h1>{title}</h1>\n" if title else ""
    page = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n{heading}'
    return Document(f"{number:06}.html", f"{page}{paragraphs}</body></html>\n".encode())
