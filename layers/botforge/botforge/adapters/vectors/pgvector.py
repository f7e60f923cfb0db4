"""The vector index on PostgreSQL: pgvector's HNSW over half-precision vectors, by cosine."""

import math
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import LiteralString

from psycopg.rows import kwargs_row, scalar_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.literals import literal
from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.errors import DatabaseUnavailable, DeadlineExceeded, VectorIndexUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector

_BATCH = 500
_EF_SEARCH = 100  # pgvector's own default is 40; `./scripts/bench --only recall` measures what it brings
_MAX_EF_SEARCH = 1_000  # pgvector's limit


class PgVectorIndex:
    """Vectors beside the text, in a table of their own: the index is derived, whichever adapter holds it.

    A namespace is a filter here. HNSW alone would return its nearest neighbours of all namespaces and filter
    afterwards; the iterative scan goes on until enough of them pass (pgvector, "Iterative Index Scans").
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def upsert(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, Vector]]) -> None:
        statement: LiteralString = """
            insert into chunk_vectors (document_id, generation, ordinal, user_id, bot_id, embedding)
            select v.document_id, v.generation, v.ordinal, %(user)s, %(bot)s, v.embedding::halfvec(384)
            from unnest(%(documents)s::uuid[], %(generations)s::int[], %(ordinals)s::int[], %(embeddings)s::text[])
                as v (document_id, generation, ordinal, embedding)
            on conflict (document_id, generation, ordinal) do update set embedding = excluded.embedding
        """
        with _translated(), self._database.transaction(user_id) as connection:
            for start in range(0, len(vectors), _BATCH):
                batch = vectors[start : start + _BATCH]
                connection.execute(
                    statement,
                    {
                        "user": user_id,
                        "bot": bot_id,
                        **_columns([ref for ref, _ in batch]),
                        "embeddings": [literal(vector) for _, vector in batch],
                    },
                )

    def query(
        self,
        user_id: UserId,
        bot_id: BotId,
        vector: Vector,
        *,
        top_k: int,
        document_ids: Collection[DocumentId] = (),
        deadline: Deadline,
    ) -> list[Hit]:
        deadline.check()
        everything: LiteralString = """
            select document_id, generation, ordinal, 1 - (embedding <=> %(vector)s::halfvec(384)) as score
            from chunk_vectors where bot_id = %(bot)s and user_id = %(user)s
            order by embedding <=> %(vector)s::halfvec(384) limit %(top_k)s
        """
        # A handful of documents is a small set: read it whole rather than hope that the graph leads there.
        of_documents: LiteralString = """
            with chosen as materialized (
                select * from chunk_vectors
                where bot_id = %(bot)s and user_id = %(user)s and document_id = any(%(documents)s::uuid[])
            )
            select document_id, generation, ordinal, 1 - (embedding <=> %(vector)s::halfvec(384)) as score
            from chosen order by embedding <=> %(vector)s::halfvec(384) limit %(top_k)s
        """
        parameters = {
            "vector": literal(vector),
            "user": user_id,
            "bot": bot_id,
            "top_k": top_k,
            "documents": list(document_ids),
        }
        settings: dict[LiteralString, str] = {
            "hnsw.ef_search": str(min(max(_EF_SEARCH, top_k), _MAX_EF_SEARCH)),
            "hnsw.iterative_scan": "strict_order",
            "statement_timeout": str(max(1, math.ceil(deadline.remaining() * 1000))),
        }
        with _translated():
            return self._database.fetch(
                user_id,
                of_documents if document_ids else everything,
                parameters,
                kwargs_row(_hit),
                settings=settings,
            )

    def missing(self, user_id: UserId, bot_id: BotId, refs: Sequence[ChunkRef]) -> frozenset[ChunkRef]:
        statement: LiteralString = """
            select document_id, generation, ordinal, 0 as score
            from chunk_vectors join unnest(%(documents)s::uuid[], %(generations)s::int[], %(ordinals)s::int[])
                as wanted (document_id, generation, ordinal) using (document_id, generation, ordinal)
            where bot_id = %(bot)s and user_id = %(user)s
        """
        parameters = {"user": user_id, "bot": bot_id, **_columns(refs)}
        with _translated():
            found = self._database.fetch(user_id, statement, parameters, kwargs_row(_hit))
        return frozenset(refs) - {hit.ref for hit in found}

    def delete_generations(self, user_id: UserId, bot_id: BotId, document_id: DocumentId, *, keep: int | None) -> None:
        statement: LiteralString = """
            delete from chunk_vectors where document_id = %(document)s and bot_id = %(bot)s and user_id = %(user)s
                and generation is distinct from %(keep)s::int
        """
        parameters = {"document": document_id, "bot": bot_id, "user": user_id, "keep": keep}
        with _translated(), self._database.transaction(user_id) as connection:
            connection.execute(statement, parameters)

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> None:
        with _translated(), self._database.transaction(user_id) as connection:
            connection.execute("delete from chunk_vectors where bot_id = %s and user_id = %s", (bot_id, user_id))

    def ping(self, deadline: Deadline) -> None:
        deadline.check()
        with _translated():
            self._database.fetch(None, "select count(*) from (select from chunk_vectors limit 1) as x", {}, scalar_row)


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        raise VectorIndexUnavailable("The vector index (pgvector) does not answer.") from error


def _columns(refs: Sequence[ChunkRef]) -> dict[str, object]:
    return {
        "documents": [ref.document_id for ref in refs],
        "generations": [ref.generation for ref in refs],
        "ordinals": [ref.ordinal for ref in refs],
    }


def _hit(*, document_id: DocumentId, generation: int, ordinal: int, score: float) -> Hit:
    return Hit(ChunkRef(document_id, generation, ordinal), float(score))
