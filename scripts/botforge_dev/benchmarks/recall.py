"""Recall@10 of PgVectorIndex against exact search, in a namespace that is nearly all of the table, and in 1 % of it."""

# NumPy leaves parts of its signatures open.
# pyright: reportUnknownMemberType=false
from typing import Any
from uuid import UUID, uuid5

import numpy as np

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.database import Database
from botforge.adapters.vectors.pgvector import PgVectorIndex
from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge_dev.benchmarks.contestants import Contestant
from botforge_dev.benchmarks.corpus import Corpus, Vectors
from botforge_dev.benchmarks.tables import DOCUMENT_CHUNKS, LARGE, SMALL, Tables

_TOP = 10


def run(ours: Contestant, corpus: Corpus, tables: Tables, *, quick: bool) -> dict[str, Any]:
    """Mean recall@10 by namespace; exact search is over the float32 vectors, so half precision counts as a miss."""
    size = max(tables.sizes)
    model = OnnxEmbedder(ours.model_dir)
    questions = corpus.questions[: 100 if quick else 300]
    asked = np.array([embedding.vector for embedding in model.embed(questions)], dtype=np.float32)
    vectors = np.array([made.vector for made in tables.chunks(size)], dtype=np.float32)
    database = Database(tables.tenant(size))
    try:
        return {
            "size": size,
            "questions": len(questions),
            "all": _recall(database, LARGE, vectors[:size], asked),
            "hundredth": _recall(database, SMALL, vectors[size:], asked),
        }
    finally:
        database.close()


def _recall(database: Database, owner: tuple[UUID, UUID], vectors: Vectors, asked: Vectors) -> float:
    user, bot = UserId(owner[0]), BotId(owner[1])
    index = PgVectorIndex(database)
    shares: list[float] = []
    for question in asked:
        nearest = np.argpartition(-(vectors @ question), _TOP)[:_TOP]
        exact = {_ref(owner[1], int(number)) for number in nearest}
        hits = index.query(user, bot, question.tolist(), top_k=_TOP, deadline=Deadline.after(25))
        shares.append(len(exact & {hit.ref for hit in hits}) / _TOP)
    return sum(shares) / len(shares)


def _ref(bot: UUID, number: int) -> ChunkRef:
    document = DocumentId(uuid5(bot, str(number // DOCUMENT_CHUNKS)))
    return ChunkRef(document, 1, number % DOCUMENT_CHUNKS)
