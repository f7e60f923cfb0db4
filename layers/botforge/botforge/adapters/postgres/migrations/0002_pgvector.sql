-- The vector index on PostgreSQL: ids and vectors only, derived from chunks, rebuilt by scripts/reindex.
--
-- halfvec: half the size of float4, and precise enough for cosines (`./scripts/bench --only recall` measures it).

create extension if not exists vector;

create table chunk_vectors (
    document_id uuid not null,
    generation  integer not null,
    ordinal     integer not null,
    user_id     uuid not null,
    bot_id      uuid not null,
    embedding   halfvec(384) not null,
    primary key (document_id, generation, ordinal)
);
create index chunk_vectors_by_bot on chunk_vectors (bot_id);
create index chunk_vectors_by_cosine on chunk_vectors using hnsw (embedding halfvec_cosine_ops);

alter table chunk_vectors enable row level security;
create policy tenant on chunk_vectors to botforge_tenant using (user_id = (select botforge_user_id()));
create policy worker on chunk_vectors to botforge_worker using (true);
grant select, insert, update, delete on chunk_vectors to botforge_tenant;
grant select, insert, update, delete on chunk_vectors to botforge_worker;
