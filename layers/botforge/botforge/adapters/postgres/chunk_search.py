"""Lexical search over the table ``chunks``, joined with what dense search found, in one statement.

The sentences of the shortlist are compared here as well: their vectors never leave the database.
"""

from types import MappingProxyType
from typing import LiteralString

from botforge.domain.fusion import SHORTLIST_WEIGHT

# The rarest terms are searched for, as long as no more of a namespace's chunks than this are expected to hold one of
# them: the others tell little and cost most. Counting stops here, too: of chunks for each term, and of documents for
# the size of the namespace.
_SCANNED = 500
_MAX_TERMS = 16
_SLACK = 4  # times as many matches are ranked as are wanted, for those of generations that are no longer active
# Chunks without any of the query's terms that every namespace is taken to hold besides its own: among a handful of
# chunks a term that none holds would otherwise outweigh all those that the right one does hold.
_PRIOR_CHUNKS = 100

# The query's lexemes are ORed: a question rarely stands word for word in its answer, so AND finds nothing for half
# of them. A term weighs its inverse document frequency as in BM25 (Robertson and Zaragoza, 2009); how often it
# stands within one chunk is left out, chunks being of one size. websearch_to_tsquery raises for no input
# (PostgreSQL, "Parsing Queries").
SEARCH: LiteralString = """
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
        sum(coalesce(frequency, 0) * size.at_most) over rarest < %(scanned)s as is_searched
    from size, unnest(to_tsvector('english', %(text)s)) left join common_lexemes using (lexeme)
    window rarest as (order by frequency nulls first, length(lexeme) desc, lexeme)
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
),
compared as materialized (
    select found.*, d.path,
        coalesce((select sum(w.weight) filter (where w.lexeme = any (c.lexemes)) / nullif(sum(w.weight), 0)
                  from weights w), 0)::float8 as lexical_coverage
    from found
        -- The limits keep the planner, which overestimates what is found, from reading whole tables for it.
        cross join lateral (
            select path from documents d
            where d.id = found.document_id and d.active_generation = found.generation limit 1
        ) as d
        cross join lateral (
            select tsvector_to_array(lexemes) as lexemes from chunks c
            where c.document_id = found.document_id and c.generation = found.generation and c.ordinal = found.ordinal
                and c.bot_id = %(bot)s and c.user_id = %(user)s
            limit 1
        ) as c
)
select best.document_id, best.generation, best.ordinal, best.path, c.text, c.title, c.headings, c.page, best.cosine,
    best.lexical_rank, best.lexical_coverage, coalesce(s.cosines, '{}') as sentence_cosines
from (
    select * from compared
    order by coalesce(cosine, (select min(score) from unnest(%(scores)s::float8[]) as hit (score)), 0)
        + %(coverage_weight)s * lexical_coverage desc, document_id, ordinal
    limit %(shortlist)s
) as best
    cross join lateral (
        select text, title, headings, page from chunks c
        where c.document_id = best.document_id and c.generation = best.generation and c.ordinal = best.ordinal
        limit 1
    ) as c
    left join lateral (
        select array(
            select -(sentence.embedding <#> %(vector)s::halfvec(384))  -- vectors of unit length
            from unnest(embeddings) with ordinality as sentence (embedding, place) order by place
        ) as cosines
        from chunk_sentences s
        where s.document_id = best.document_id and s.generation = best.generation and s.ordinal = best.ordinal
            and s.user_id = %(user)s and %(vector)s::halfvec(384) is not null
        limit 1
    ) as s on true
"""

# The part of the statement's parameters that no call changes.
BOUNDS = MappingProxyType({
    "scanned": _SCANNED,
    "prior": _PRIOR_CHUNKS,
    "max_terms": _MAX_TERMS,
    "slack": _SLACK,
    "coverage_weight": SHORTLIST_WEIGHT,
})  # fmt: skip
