-- Tool servers, their tools, and every call that was made.
--
-- What came from a server or goes to one is kept as json, not jsonb: it is stored as it was sent, in its order and
-- with whatever its strings hold (jsonb refuses \u0000 and lone surrogates).

create table mcp_servers (
    id                   uuid primary key,
    user_id              uuid not null,
    bot_id               uuid not null references bots (id),
    name                 text not null check (char_length(name) between 1 and 200),
    endpoint_url         text not null,
    description          text not null check (char_length(description) <= 4000),
    is_active            boolean not null default true,
    timeout_seconds      integer not null default 30 check (timeout_seconds between 1 and 60),
    retry_attempts       integer not null default 3 check (retry_attempts between 0 and 5),
    config               json not null,   -- {"policies": {tool name or "*": {"effect", "cache_ttl_seconds"}}}
    protocol             text not null check (protocol in ('auto', 'rest', 'mcp')),
    dialect              text,            -- what the server was found to speak
    credential_kind      text check (credential_kind in ('bearer', 'header', 'oauth_client_credentials')),
    sealed_credential    bytea,           -- ciphertext; the key is elsewhere
    health_status        text not null default 'unknown'
        check (health_status in ('unknown', 'healthy', 'unhealthy', 'open')),
    latency_ms           double precision,
    consecutive_failures integer not null default 0,
    checked_at           timestamptz,
    error_code           text,
    claimed_at           timestamptz,     -- when a monitor last took it on
    created_at           timestamptz not null default now(),
    updated_at           timestamptz not null default now(),
    deleted_at           timestamptz,     -- set: gone for its owner; the row stays for its executions
    check ((credential_kind is null) = (sealed_credential is null))
);
create unique index mcp_servers_by_name on mcp_servers (bot_id, name) where deleted_at is null;
create index mcp_servers_in_order on mcp_servers (bot_id, created_at desc, id desc);
create index mcp_servers_to_check on mcp_servers (checked_at nulls first) where is_active and deleted_at is null;

create table mcp_tools (
    id                uuid primary key,
    user_id           uuid not null,
    bot_id            uuid not null references bots (id),
    mcp_server_id     uuid not null references mcp_servers (id),
    name              text not null,
    description       text not null,
    schema            json not null,
    output_schema     json,
    header_parameters json not null,
    digest            text not null,
    status            text not null check (status in ('active', 'needs_review', 'disabled', 'withdrawn')),
    is_active         boolean not null generated always as (status = 'active') stored,
    pending           json,  -- the definition that waits for review
    embedding         halfvec(384),  -- of the accepted definition; null: none was accepted yet
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    unique (mcp_server_id, name)
);
-- Searching a bot's tools reads every one of their vectors: they stay in the row, and what is long is moved out.
alter table mcp_tools alter column embedding set storage plain;
create index mcp_tools_of_bot on mcp_tools (bot_id, created_at desc, id desc);
create index mcp_tools_of_user on mcp_tools (user_id, created_at desc, id desc);

create table mcp_executions (
    id                uuid primary key,
    user_id           uuid not null,
    bot_id            uuid not null references bots (id),
    mcp_server_id     uuid not null references mcp_servers (id),
    server_name       text not null,
    query_id          uuid,  -- the query's own row is written at its end
    tool_name         text not null,
    input_parameters  json not null,
    output_result     json,
    execution_time_ms integer,
    status            text not null check (status in ('started', 'succeeded', 'failed', 'unknown')),
    attempts          integer not null default 0,
    error_code        text,
    error_message     text,
    "timestamp"       timestamptz not null default now()
);
create index mcp_executions_in_order on mcp_executions (bot_id, "timestamp" desc, id desc);
create index mcp_executions_by_tool on mcp_executions (bot_id, tool_name, "timestamp" desc, id desc);
create index mcp_executions_by_status on mcp_executions (bot_id, status, "timestamp" desc, id desc);
create index mcp_executions_of_server on mcp_executions (mcp_server_id);
create index mcp_executions_started on mcp_executions ("timestamp") where status = 'started';

alter table mcp_servers enable row level security;
alter table mcp_tools enable row level security;
alter table mcp_executions enable row level security;

create policy tenant on mcp_servers to botforge_tenant using (user_id = (select botforge_user_id()));
create policy tenant on mcp_tools to botforge_tenant using (user_id = (select botforge_user_id()));
create policy tenant on mcp_executions to botforge_tenant using (user_id = (select botforge_user_id()));
create policy worker on mcp_servers to botforge_worker using (true);
create policy worker on mcp_tools to botforge_worker using (true);
create policy worker on mcp_executions to botforge_worker using (true);

grant select, insert, update on mcp_servers to botforge_tenant;
grant select, insert, update, delete on mcp_tools to botforge_tenant;
-- Evidence: what was asked for is written once, and only its outcome is added.
grant select, insert on mcp_executions to botforge_tenant;
grant update (status, execution_time_ms, attempts, output_result, error_code, error_message)
    on mcp_executions to botforge_tenant;

-- The monitor notes what it found. It never changes where a server is, or its credential.
grant select, delete on mcp_servers, mcp_executions to botforge_worker;
grant update (dialect, health_status, latency_ms, consecutive_failures, checked_at, error_code, claimed_at)
    on mcp_servers to botforge_worker;
grant select, insert, update, delete on mcp_tools to botforge_worker;
grant update (status, error_code, error_message) on mcp_executions to botforge_worker;

-- /health counts servers by status over all tenants, and sees nothing else of them.
create function tool_servers_by_status() returns table (health_status text, servers integer)
language sql stable security definer set search_path = pg_catalog, public
as $$
    select s.health_status, count(*)::integer
    from mcp_servers s join bots b on b.id = s.bot_id
    where s.is_active and s.deleted_at is null and b.deleted_at is null
    group by s.health_status
$$;
revoke all on function tool_servers_by_status from public;
grant execute on function tool_servers_by_status to botforge_tenant, botforge_worker;
