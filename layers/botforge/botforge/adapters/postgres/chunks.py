"""The table ``chunks``: the only home of document text, and lexical search over it."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import kwargs_row

from botforge.adapters.postgres.database import Database
from botforge.domain.chunk import Candidate, Chunk, Hit
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.domain.work import Claim

# Terms that more of a namespace's chunks than this are expected to hold are not searched for: they tell little and cost
# most. Counting stops here, too: of chunks for each term, and of documents for the size of the namespace.
_SCANNED = 1_000
_MAX_TERMS = 16
_SLACK = 4  # times as many matches are ranked as are wanted, for those of generations that are no longer active
# Chunks without any of the query's terms that every namespace is taken to hold besides its own: among a handful of
# chunks a term that none holds would otherwise outweigh all those that the right one does hold.
_PRIOR_CHUNKS = 100
_PAGE = 1_000

# The query's lexemes are ORed: a question rarely stands word for word in its answer, so AND finds nothing for half
# of them. A term weighs its inverse document frequency as in BM25 (Robertson and Zaragoza, 2009); how often it
# stands within one chunk is left out, chunks being of one size. websearch_to_tsquery raises for no input
# (PostgreSQL, "Parsing Queries").
_SEARCH: LiteralString = """
with size as materialized (
    select least(coalesce(sum(chunk_count), 0), %(scanned)s) as chunks,
        -- Of a namespace of many documents no more is known than that it is no larger than the table.
        case when count(*) < %(scanned)s then coalesce(sum(chunk_count), 0)
            else greatest(sum(chunk_count), (select reltuples from pg_class where oid = 'chunks'::regclass))
        end as at_most
    from (
        select chunk_count from documents where bot_id = %(bot)s and status <> 'deleted'
        order by created_at desc, id desc limit %(scanned)s
    ) as counted
),
terms as materialized (
    select lexeme, frequency, websearch_to_tsquery('simple', '"' || replace(lexeme, '"', ' ') || '"') as query,
        frequency is null or frequency * size.at_most < %(scanned)s as is_searched
    from size, unnest(to_tsvector('english', %(text)s)) left join common_lexemes using (lexeme)
    order by frequency nulls first, length(lexeme) desc, lexeme limit %(max_terms)s
),
matches as materialized (
    select t.lexeme, c.document_id, c.generation, c.ordinal
    from terms t
        cross join lateral chunks_with_lexeme(%(bot)s, t.query, %(documents)s::uuid[], %(scanned)s) as c
    where t.is_searched
),
weights as materialized (
    select t.lexeme,
        case when t.is_searched
            then ln(1 + (size.chunks + %(prior)s - least(count(m), size.chunks) + 0.5) / (count(m) + 0.5))
            else -ln(t.frequency)
        end as weight
    from terms t cross join size left join matches m using (lexeme)
    group by t.lexeme, t.frequency, t.is_searched, size.chunks
),
lexical as materialized (
    select document_id, generation, ordinal, row_number() over (order by score desc, document_id, ordinal) as rank
    from (
        select m.document_id, m.generation, m.ordinal, sum(w.weight) as score
        from matches m join weights w using (lexeme)
        group by m.document_id, m.generation, m.ordinal
        order by score desc, m.document_id, m.ordinal limit %(limit)s * %(slack)s
    ) as best
    cross join lateral (
        select from documents d where d.id = best.document_id and d.active_generation = best.generation limit 1
    ) as visible
    order by rank limit %(limit)s
),
found as materialized (
    select document_id, generation, ordinal, dense.cosine, lexical.rank::int as lexical_rank
    from lexical full join (
        select * from unnest(%(ids)s::uuid[], %(generations)s::int[], %(ordinals)s::int[], %(scores)s::float8[])
            as hit (document_id, generation, ordinal, cosine)
    ) as dense using (document_id, generation, ordinal)
)
select found.document_id, found.generation, found.ordinal, d.path, c.text, c.title, c.headings, c.page, found.cosine,
    found.lexical_rank,
    coalesce((select sum(w.weight) filter (where w.lexeme = any (c.lexemes)) / nullif(sum(w.weight), 0)
              from weights w), 0)::float8 as lexical_coverage
from found
    -- The limits keep the planner, which overestimates what is found, from reading whole tables for it.
    cross join lateral (
        select path from documents d where d.id = found.document_id and d.active_generation = found.generation limit 1
    ) as d
    cross join lateral (
        select text, title, headings, page, tsvector_to_array(lexemes) as lexemes from chunks c
        where c.document_id = found.document_id and c.generation = found.generation and c.ordinal = found.ordinal
            and c.bot_id = %(bot)s and c.user_id = %(user)s
        limit 1
    ) as c
"""


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

    def search(
        self,
        user_id: UserId,
        bot_id: BotId,
        text: str,
        hits: Sequence[Hit],
        *,
        lexical_limit: int,
        document_ids: Collection[DocumentId] = (),
    ) -> list[Candidate]:
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "text": text,
            "documents": list(document_ids),
            "limit": lexical_limit,
            "scanned": _SCANNED,
            "prior": _PRIOR_CHUNKS,
            "max_terms": _MAX_TERMS,
            "slack": _SLACK,
            "ids": [hit.ref.document_id for hit in hits],
            "generations": [hit.ref.generation for hit in hits],
            "ordinals": [hit.ref.ordinal for hit in hits],
            "scores": [hit.score for hit in hits],
        }
        return self._database.fetch(user_id, _SEARCH, parameters, kwargs_row(_candidate))

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
    **columns: Any,  # noqa: ANN401 - a row's columns
) -> Candidate:
    ref = ChunkRef(DocumentId(document_id), generation, ordinal)
    return Candidate(ref=ref, headings=tuple(headings), **columns)
