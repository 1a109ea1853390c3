-- Every tenant table has tenant_id first in its key. Rows of the hot tables (requests, artifacts,
-- outcomes, logs) are only ever inserted, many in one commit, and have no foreign keys: the one
-- dispatcher checks what they refer to.

create table tenants (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null,
    constraint tenants_name_unique unique (name)
);

create table keys (
    tenant_id uuid not null references tenants (id),
    id uuid not null,
    name text not null,
    prefix text not null,
    -- SHA-256 of the whole key, whose secret part has 256 random bits.
    secret_hash bytea not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    primary key (tenant_id, id),
    constraint keys_prefix_unique unique (prefix)
);

create table plugins (
    tenant_id uuid not null references tenants (id),
    name text not null,
    version text not null,
    digest bytea not null,
    -- What `describe` returned.
    description json not null,
    published_at timestamptz not null,
    yanked_at timestamptz,
    yank_reason text,
    primary key (tenant_id, name, version),
    constraint plugins_yanked check ((yanked_at is null) = (yank_reason is null))
);

create table channels (
    tenant_id uuid not null,
    plugin text not null,
    channel text not null,
    version text not null,
    promoted_at timestamptz not null,
    primary key (tenant_id, plugin, channel),
    foreign key (tenant_id, plugin, version) references plugins (tenant_id, name, version)
);

-- What a plugin compiled to, by engine; by content, so no tenant's.
create table compilations (
    digest bytea not null,
    engine text not null,
    compiled_digest bytea not null,
    compiled_at timestamptz not null,
    primary key (digest, engine)
);

-- A run keeps the plugin version and settings of its first batch.
create table runs (
    tenant_id uuid not null references tenants (id),
    name text not null,
    plugin text not null,
    version text not null,
    digest bytea not null,
    settings text not null,
    created_at timestamptz not null,
    primary key (tenant_id, name)
);

create table batches (
    tenant_id uuid not null,
    id uuid not null,
    run text not null,
    iteration bigint not null,
    plugin text not null,
    version text not null,
    digest bytea not null,
    settings text not null,
    expected_size integer,
    group_size integer,
    max_extra_delay_ms integer,
    idempotency_key text,
    -- SHA-256 of the call that made it, to tell a repeat from another call under the same key.
    call_hash bytea,
    state text not null,
    announced_at timestamptz not null,
    first_request_at timestamptz,
    sealed_at timestamptz,
    ended_at timestamptz,
    -- The paper's T: when the last request could have ended without waiting.
    earliest_end_at timestamptz,
    submitted integer,
    scored integer,
    timed_out integer,
    error integer,
    reward_sum double precision,
    primary key (tenant_id, id),
    constraint batches_idempotency_key_unique unique (tenant_id, idempotency_key),
    constraint batches_state check (state in ('announced', 'open', 'sealed', 'done', 'cancelled', 'expired')),
    constraint batches_announced check (state <> 'announced' or (first_request_at is null and sealed_at is null)),
    constraint batches_open check (state <> 'open' or (first_request_at is not null and sealed_at is null)),
    constraint batches_sealed check (state <> 'sealed' or sealed_at is not null),
    constraint batches_ended check (
        (state in ('done', 'cancelled', 'expired')) = (ended_at is not null)
        and (ended_at is null) = (submitted is null)
    )
);

create index batches_live on batches (id) where ended_at is null;

create table requests (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    -- Unique in the batch: the dispatcher knows the keys of every live batch. An index would only
    -- repeat that, at a cost to every request.
    key text not null,
    group_name text,
    -- A serialised assay.worker.v1.Body: what the worker gets, byte for byte.
    body bytea not null,
    arrived_at timestamptz not null,
    primary key (tenant_id, batch_id, seq)
);

-- Bodies of a few kilobytes stay in the row, uncompressed: the fastest way in and out.
alter table requests alter column body set storage external;
alter table requests set (toast_tuple_target = 8160);

create table artifacts (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    -- The stage that left it, from 0.
    stage smallint not null,
    content_type text not null,
    bytes bytea not null,
    -- Times of this stage and those before it, as in a result.
    times json not null,
    created_at timestamptz not null,
    primary key (tenant_id, batch_id, seq, stage)
);

create table outcomes (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    -- Place in the batch's order of completion, from 1. Without an index: a batch is read by its
    -- primary key and sorted, and every outcome has one index less to write.
    position integer not null,
    kind text not null,
    reward double precision,
    verdict text not null,
    -- The paper's t_i: arrival plus the times of its stages.
    earliest_end_at timestamptz not null,
    finished_at timestamptz not null,
    -- What the trainer gets, as JSON.
    result json not null,
    -- An infrastructure failure is never a number, and one request never has two answers.
    primary key (tenant_id, batch_id, seq),
    constraint outcomes_kind check (kind in ('scored', 'timed_out', 'error')),
    constraint outcomes_reward check ((kind = 'error') = (reward is null))
);

create table logs (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    -- Order within the request, over all its stages and tries.
    line integer not null,
    stage text not null,
    level text not null,
    message text not null,
    primary key (tenant_id, batch_id, seq, line)
);
