"""The table ``chunks``, the only home of document text, and the vectors of its sentences."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, LiteralString
from uuid import UUID

from psycopg.errors import ForeignKeyViolation
from psycopg.rows import kwargs_row

from botforge.adapters.postgres.chunk_search import BOUNDS, SEARCH
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.literals import literal
from botforge.domain.chunk import Candidate, Chunk, Hit
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.domain.work import Claim
from botforge.ports.embedding import Vector

_PAGE = 1_000


class PostgresChunks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, claim: Claim, chunks: Sequence[Chunk]) -> None:
        statement: LiteralString = """
            insert into chunks (document_id, generation, ordinal, user_id, bot_id, text, title, headings, page, lexemes)
            values (%(document)s, %(generation)s, %(ordinal)s, %(user)s, %(bot)s, %(text)s, %(title)s, %(headings)s,
                    %(page)s, to_tsvector('english', %(searched)s))
        """
        with self._database.transaction(claim.key.user_id) as connection, connection.cursor() as rows:
            rows.execute(_DISCARD, _generation(claim))
            rows.executemany(
                statement,
                [
                    {
                        **_generation(claim),
                        "user": claim.key.user_id,
                        "bot": claim.key.bot_id,
                        "ordinal": chunk.ordinal,
                        "text": chunk.text,
                        "title": chunk.title,
                        "headings": list(chunk.headings),
                        "page": chunk.page,
                        "searched": chunk.embedding_text,
                    }
                    for chunk in chunks
                ],
            )

    def discard(self, claim: Claim) -> None:
        with self._database.transaction(claim.key.user_id) as connection:
            connection.execute(_DISCARD, _generation(claim))

    def write_sentences(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, list[Vector]]]) -> None:
        statement: LiteralString = """
            insert into chunk_sentences (document_id, generation, ordinal, user_id, bot_id, embeddings)
            values (%(document)s, %(generation)s, %(ordinal)s, %(user)s, %(bot)s, %(embeddings)s::halfvec(384)[])
            on conflict (document_id, generation, ordinal) do update set embeddings = excluded.embeddings
        """
        rows = [
            {
                "document": ref.document_id,
                "generation": ref.generation,
                "ordinal": ref.ordinal,
                "user": user_id,
                "bot": bot_id,
                "embeddings": [literal(vector) for vector in of_sentences],
            }
            for ref, of_sentences in vectors
        ]
        # A generation that a later claim has removed meanwhile needs none.
        with suppress(ForeignKeyViolation), self._database.transaction(user_id) as connection:
            connection.cursor().executemany(statement, rows)

    def search(
        self,
        user_id: UserId,
        bot_id: BotId,
        text: str,
        hits: Sequence[Hit],
        *,
        vector: Vector | None,
        lexical_limit: int,
        limit: int,
        document_ids: Collection[DocumentId] = (),
    ) -> list[Candidate]:
        parameters = {
            **BOUNDS,
            "bot": bot_id,
            "user": user_id,
            "text": text,
            "vector": None if vector is None else literal(vector),
            "documents": list(document_ids),
            "limit": lexical_limit,
            "shortlist": limit,
            "ids": [hit.ref.document_id for hit in hits],
            "generations": [hit.ref.generation for hit in hits],
            "ordinals": [hit.ref.ordinal for hit in hits],
            "scores": [hit.score for hit in hits],
        }
        return self._database.fetch(user_id, SEARCH, parameters, kwargs_row(_candidate))

    def read(self, user_id: UserId, document_id: DocumentId, generation: int, *, after: int, limit: int) -> list[Chunk]:
        statement: LiteralString = """
            select ordinal, text, title, headings, page from chunks
            where document_id = %(document)s and generation = %(generation)s and user_id = %(user)s
                and ordinal > %(after)s
            order by ordinal limit %(limit)s
        """
        parameters = {
            "document": document_id,
            "generation": generation,
            "user": user_id,
            "after": after,
            "limit": limit,
        }
        return self._database.fetch(user_id, statement, parameters, kwargs_row(_chunk))

    def active(self, user_id: UserId, bot_id: BotId) -> Iterator[tuple[ChunkRef, Chunk]]:
        statement: LiteralString = """
            select c.document_id, c.generation, c.ordinal, c.text, c.title, c.headings, c.page
            from chunks c join documents d on d.id = c.document_id and d.active_generation = c.generation
            where c.bot_id = %(bot)s and c.user_id = %(user)s
                and (c.document_id, c.ordinal) > (%(document)s::uuid, %(ordinal)s::int)
            order by c.document_id, c.ordinal limit %(limit)s
        """
        document, ordinal = DocumentId(UUID(int=0)), -1
        while True:
            parameters = {
                "bot": bot_id,
                "user": user_id,
                "document": document,
                "ordinal": ordinal,
                "limit": _PAGE,
            }
            rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_referenced))
            yield from rows
            if len(rows) < _PAGE:
                return
            document, ordinal = rows[-1][0].document_id, rows[-1][0].ordinal


_DISCARD: LiteralString = "delete from chunks where document_id = %(document)s and generation = %(generation)s"


def _generation(claim: Claim) -> dict[str, object]:
    return {"document": claim.document_id, "generation": claim.generation}


def _chunk(*, headings: list[str], **columns: Any) -> Chunk:  # noqa: ANN401 - a row's columns
    return Chunk(headings=tuple(headings), **columns)


def _referenced(*, document_id: UUID, generation: int, ordinal: int, **columns: Any) -> tuple[ChunkRef, Chunk]:  # noqa: ANN401
    return ChunkRef(DocumentId(document_id), generation, ordinal), _chunk(ordinal=ordinal, **columns)


def _candidate(
    *,
    document_id: UUID,
    generation: int,
    ordinal: int,
    headings: list[str],
    sentence_cosines: list[float],
    **columns: Any,  # noqa: ANN401 - a row's columns
) -> Candidate:
    ref = ChunkRef(DocumentId(document_id), generation, ordinal)
    return Candidate(ref=ref, headings=tuple(headings), sentence_cosines=tuple(sentence_cosines), **columns)
