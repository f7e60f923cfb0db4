-- Bots, documents, chunks and queries.
--
-- Two roles own nothing and log in through users that are members of them:
--   botforge_tenant  sees the rows of the tenant named by the setting botforge.user_id, and no others
--   botforge_worker  sees all rows: the monitor cleans up across tenants
-- Every table repeats user_id, so that each policy is one comparison and needs no join.

create extension if not exists btree_gin;

do $$
begin
    if not exists (select from pg_roles where rolname = 'botforge_tenant') then
        create role botforge_tenant nologin;
    end if;
    if not exists (select from pg_roles where rolname = 'botforge_worker') then
        create role botforge_worker nologin;
    end if;
exception when duplicate_object then
    null; -- roles belong to the whole cluster: another database's migration was faster
end
$$;

create function botforge_user_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('botforge.user_id', true), '')::uuid;

create table bots (
    id                   uuid primary key,
    user_id              uuid not null,
    name                 text not null check (char_length(name) between 1 and 200),
    description          text not null check (char_length(description) <= 4000),
    is_active            boolean not null default true,
    max_chunks           integer not null check (max_chunks between 1 and 20),
    similarity_threshold double precision not null check (similarity_threshold between 0 and 1),
    created_at           timestamptz not null default now(),
    updated_at           timestamptz not null default now(),
    deleted_at           timestamptz  -- set: invisible to its owner, and the monitor purges it
);
create index bots_by_owner on bots (user_id, created_at desc, id desc) where deleted_at is null;
create index bots_to_purge on bots (deleted_at) where deleted_at is not null;

create table documents (
    id                uuid primary key,
    user_id           uuid not null,
    bot_id            uuid not null references bots (id),
    path              text not null,
    title             text,
    content_type      text not null,
    size              bigint not null check (size >= 0),
    status            text not null
        check (status in ('pending', 'processing', 'indexed', 'failed', 'rejected', 'deleted')),
    reason            text,
    detail            text,
    sequencer         text,     -- of the latest event that was claimed
    correlation_id    text,
    etag              text,     -- of the content that the active generation holds
    version_id        text,
    last_generation   integer not null default 0,  -- the highest that any worker has claimed
    active_generation integer,  -- the one that answers may quote
    chunk_count       integer not null default 0,
    truncated_chunks  integer not null default 0,
    claimed_at        timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    indexed_at        timestamptz,
    unique (bot_id, path),
    check ((status in ('failed', 'rejected')) = (reason is not null)),
    check (status <> 'indexed' or active_generation is not null)
);
create index documents_in_order on documents (bot_id, created_at desc, id desc) where status <> 'deleted';
create index documents_being_processed on documents (claimed_at) where status = 'processing';
create index documents_awaited on documents (created_at) where status = 'pending';

create table chunks (
    document_id uuid not null references documents (id) on delete cascade,
    generation  integer not null,
    ordinal     integer not null,
    user_id     uuid not null,
    bot_id      uuid not null,
    text        text not null,
    title       text,
    headings    text[] not null,
    page        integer,
    -- A tsvector holds at most 1,048,575 bytes; a chunk is a few kilobytes. Title and headings are searched as well.
    lexemes     tsvector not null,
    primary key (document_id, generation, ordinal)
);
-- The statistics name the common lexemes, ten for each unit: enough of them that what they do not name is rare.
alter table chunks alter column lexemes set statistics 500;
create index chunks_by_lexeme on chunks using gin (bot_id, lexemes);
create index chunks_by_bot on chunks (bot_id);

-- Lexemes that stand in so many chunks that finding them all costs more than they tell; the monitor refreshes it.
create table common_lexemes (
    lexeme    text primary key,
    frequency double precision not null  -- the share of all chunks that hold it
);

create table queries (
    id                uuid primary key,
    user_id           uuid not null,
    bot_id            uuid not null references bots (id),
    client_id         text not null,
    query             text not null,
    intent            text not null,
    processing_type   text not null,
    status            text not null check (status in ('answered', 'abstained', 'failed')),
    error_code        text,
    degraded          text[] not null,
    best_relevance    double precision,
    sources           integer not null,
    model             text,
    prompt_tokens     integer not null,
    completion_tokens integer not null,
    latency_ms        double precision not null,
    stage_ms          jsonb not null,
    created_at        timestamptz not null default now()
);
create index queries_by_bot on queries (bot_id, created_at);

alter table bots enable row level security;
alter table documents enable row level security;
alter table chunks enable row level security;
alter table queries enable row level security;

-- A sub-select is evaluated once for a statement; the bare function would be for every row.
create policy tenant on bots to botforge_tenant using (user_id = (select botforge_user_id()));
create policy tenant on documents to botforge_tenant using (user_id = (select botforge_user_id()));
create policy tenant on chunks to botforge_tenant using (user_id = (select botforge_user_id()));
create policy tenant on queries to botforge_tenant using (user_id = (select botforge_user_id()));
create policy worker on bots to botforge_worker using (true);
create policy worker on documents to botforge_worker using (true);
create policy worker on chunks to botforge_worker using (true);
create policy worker on queries to botforge_worker using (true);

grant select, insert, update on bots, documents to botforge_tenant;
grant select, insert, delete on chunks to botforge_tenant;
grant select, insert on queries to botforge_tenant;
grant select, update, delete on bots, documents to botforge_worker;
grant select, delete on chunks, queries to botforge_worker;
grant select on common_lexemes to botforge_tenant;

-- Row-level security keeps an operator that is not leak-proof, such as @@, out of index conditions, and a search
-- without its index reads every chunk. So the search runs as the owner, and repeats the tenant's check itself.
create function chunks_with_lexeme(bot uuid, wanted tsquery, documents uuid[], at_most integer)
returns table (document_id uuid, generation integer, ordinal integer)
language plpgsql stable security definer rows 500 set search_path = pg_catalog, public
as $$
begin
    if cardinality(documents) = 0 then
        return query
            select c.document_id, c.generation, c.ordinal from chunks c
            where c.bot_id = bot and c.lexemes @@ wanted and c.user_id = (select botforge_user_id())
            limit at_most;
    else
        return query
            select c.document_id, c.generation, c.ordinal from chunks c
            where c.bot_id = bot and c.lexemes @@ wanted and c.user_id = (select botforge_user_id())
                and c.document_id = any (documents)
            limit at_most;
    end if;
end
$$;
revoke all on function chunks_with_lexeme from public;
grant execute on function chunks_with_lexeme to botforge_tenant;

-- The planner's own statistics know the common lexemes; only the owner may read them.
create function refresh_common_lexemes(at_least double precision) returns integer
language plpgsql security definer set search_path = pg_catalog, public
as $$
declare
    found_lexemes integer;
begin
    delete from common_lexemes;
    insert into common_lexemes (lexeme, frequency)
    select element.lexeme, element.frequency
    from pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as element (lexeme, frequency)
    where s.schemaname = 'public' and s.tablename = 'chunks' and s.attname = 'lexemes'
        and element.lexeme is not null and element.frequency >= at_least;
    get diagnostics found_lexemes = row_count;
    return found_lexemes;
end
$$;
revoke all on function refresh_common_lexemes from public;
grant execute on function refresh_common_lexemes to botforge_worker;
