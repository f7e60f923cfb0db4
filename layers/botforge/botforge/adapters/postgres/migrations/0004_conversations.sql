-- Conversations, so that a follow-up can be understood. An id is chosen by the client and is its owner's alone: the key
-- begins with the owner, so another tenant's id is as free, and as unknown, as one that nobody uses.

create table conversations (
    user_id    uuid not null,
    id         uuid not null,
    bot_id     uuid not null references bots (id),
    client_id  text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (user_id, id)
);
create index conversations_in_order on conversations (bot_id, created_at desc, id desc);
create index conversations_to_expire on conversations (updated_at);

create table messages (
    user_id         uuid not null,
    conversation_id uuid not null,
    number          integer not null,  -- from 0
    role            text not null check (role in ('user', 'assistant')),
    text            text not null,
    created_at      timestamptz not null default now(),
    primary key (user_id, conversation_id, number),
    foreign key (user_id, conversation_id) references conversations (user_id, id) on delete cascade
);

alter table conversations enable row level security;
alter table messages enable row level security;
create policy tenant on conversations to botforge_tenant using (user_id = botforge_user_id());
create policy tenant on messages to botforge_tenant using (user_id = botforge_user_id());
create policy worker on conversations to botforge_worker using (true);
create policy worker on messages to botforge_worker using (true);
grant select, insert, update, delete on conversations to botforge_tenant;
grant select, insert, delete on messages to botforge_tenant;
grant select, delete on conversations, messages to botforge_worker;
