-- Tenants with their bounds, what is granted to them, what they used, and who changed what.

-- What administered every tenant under `admin:*` is `platform:*` from now on.
update keys set scopes = array_append(scopes, 'platform:*')
where 'admin:*' = any (scopes) and not 'platform:*' = any (scopes);

alter table tenants
    add column display_name text not null default '',
    -- Its share of a pool that is over-subscribed, beside the others'.
    add column weight integer not null default 1,
    add column suspended_at timestamptz,
    -- The most workers at once, by pool.
    add column workers_max json not null default '{}',
    add column open_batches_max integer,
    add column requests_per_minute_max integer,
    add column stored_bytes_max bigint,
    add column gpu boolean not null default true,
    -- Null: all of them.
    add column toolchains text[],
    -- Null: as long as the platform keeps them.
    add column results_days integer,
    add column history_days integer,
    -- What of its batches ended before this has been deleted.
    add column purged_to timestamptz not null default '-infinity',
    add constraint tenants_weight check (weight between 1 and 1000),
    add constraint tenants_bounds check (
        open_batches_max >= 0 and requests_per_minute_max >= 0 and stored_bytes_max >= 0
        and json_typeof(workers_max) = 'object'
    ),
    add constraint tenants_retention check (results_days > 0 and history_days > 0);

-- What the tenant's rows hold, in bytes. Each writer has a row of its own, so that no group commit
-- waits for another's lock; their sum is what counts.
create table stored_bytes (
    tenant_id uuid not null,
    writer text not null,
    bytes bigint not null,
    primary key (tenant_id, writer),
    constraint stored_bytes_writer
    check (writer in ('earlier', 'admissions', 'outcomes', 'others', 'lone', 'retention'))
);

-- What was there before it was counted.
insert into stored_bytes (tenant_id, writer, bytes)
select tenant_id, 'earlier', sum(bytes) from (
    select tenant_id, octet_length(body)::bigint as bytes from requests
    union all select tenant_id, octet_length(bytes) from artifacts
    union all select tenant_id, octet_length(result::text) from outcomes
    union all select tenant_id, octet_length(message) from logs
) as rows group by tenant_id;

-- What ended batches cost, by day (UTC) and pool; written with their end, in the same statement.
create table usage (
    tenant_id uuid not null,
    day date not null,
    pool text not null,
    -- As above.
    writer text not null,
    -- That ran on the pool.
    requests bigint not null,
    worker_seconds double precision not null,
    -- Seconds times what the pool cost then.
    cost double precision not null,
    primary key (tenant_id, day, pool, writer),
    constraint usage_writer check (writer in ('outcomes', 'lone'))
);

-- `expired_at`: what it held may not be read from then on; `purged_at`: it is deleted. The row
-- itself stays, with its totals.
alter table batches
    add column expired_at timestamptz,
    add column purged_at timestamptz,
    add constraint batches_purged check (
        (expired_at is null or ended_at is not null) and (purged_at is null or expired_at is not null)
    );

-- For the job that deletes: it costs next to nothing to keep, as batches end in order.
create index batches_ended on batches using brin (ended_at) with (autosummarize = on);

-- What the component asks for.
alter table plugins add column imports text[] not null default '{}';

-- Every administrative act. Without foreign keys: it outlives what it tells of.
create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    -- Whose things were changed; null for the platform's.
    tenant_id uuid,
    actor_kind text not null,
    actor_id uuid,
    -- Of a key, its name; of a person, the address.
    actor_name text not null,
    -- Of a key.
    actor_tenant_id uuid,
    action text not null,
    subject text not null,
    before json,
    after json,
    constraint audit_actor check (
        actor_kind in ('key', 'person', 'platform') and (actor_kind = 'platform') = (actor_id is null)
    )
);

create index audit_tenant on audit (tenant_id, id);
create index audit_at on audit (at);
