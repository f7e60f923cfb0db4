-- Sentences with the intent that a bot's owner wants for them and their like. A deleted one is gone: its text is not kept.

create table routing_examples (
    id         uuid primary key,
    user_id    uuid not null,
    bot_id     uuid not null references bots (id),
    text       text not null check (char_length(text) between 1 and 1000),
    text_key   bytea not null,  -- of the text regardless of case and white space: one sentence, one intent
    intent     text not null check (intent in ('information_retrieval', 'execution')),
    embedding  halfvec(384) not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (bot_id, text_key)
);
-- Every query reads all of a bot's vectors: they stay in the row.
alter table routing_examples alter column embedding set storage plain;
create index routing_examples_in_order on routing_examples (bot_id, created_at desc, id desc);

alter table routing_examples enable row level security;
create policy tenant on routing_examples to botforge_tenant using (user_id = botforge_user_id());
create policy worker on routing_examples to botforge_worker using (true);
grant select, insert, update, delete on routing_examples to botforge_tenant;
grant select, delete on routing_examples to botforge_worker;
