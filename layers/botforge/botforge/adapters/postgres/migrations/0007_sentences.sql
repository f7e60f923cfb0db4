-- Vectors of a chunk's sentences: ranking counts a chunk's best sentence, and answers without an LLM quote it.
--
-- Derived like chunk_vectors, but read by the chunk's key alone and never searched, so it stays in this database
-- whichever adapter holds the vector index.

create table chunk_sentences (
    document_id uuid not null,
    generation  integer not null,
    ordinal     integer not null,
    user_id     uuid not null,
    bot_id      uuid not null,
    embeddings  halfvec(384)[] not null,  -- in the order of the sentences
    primary key (document_id, generation, ordinal),
    foreign key (document_id, generation, ordinal) references chunks on delete cascade
);
-- Vectors do not compress; trying costs time.
alter table chunk_sentences alter column embeddings set storage external;

alter table chunk_sentences enable row level security;
create policy tenant on chunk_sentences to botforge_tenant using (user_id = (select botforge_user_id()));
create policy worker on chunk_sentences to botforge_worker using (true);
grant select, insert, update on chunk_sentences to botforge_tenant;
grant select, insert, update, delete on chunk_sentences to botforge_worker;
