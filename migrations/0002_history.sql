-- What a completed batch leaves to the planner and to those who ask why it was late. Written with
-- the batch's end, in the same statement; only ever inserted, and deleted when it is old.
create table batch_history (
    tenant_id uuid not null,
    batch_id uuid not null,
    run text not null,
    digest bytea not null,
    -- Name, pool, timeout and retries of each stage, as they were.
    stages json not null,
    announced_at timestamptz not null,
    first_arrival_at timestamptz not null,
    earliest_end_at timestamptz not null,
    ended_at timestamptz not null,
    requests integer not null,
    -- By pool.
    worker_seconds json not null,
    -- In the order of completion, an element a request: when it came, from the first arrival on.
    arrived_us bigint[] not null,
    -- An element a stage of each request in turn; zero where it was not reached.
    ran_us bigint[] not null,
    -- A letter a request: scored, timed out, error.
    endings text not null,
    primary key (tenant_id, batch_id),
    constraint batch_history_requests check (requests > 0),
    constraint batch_history_nulls check (
        array_position(arrived_us, null) is null and array_position(ran_us, null) is null
    ),
    constraint batch_history_lengths check (
        cardinality(arrived_us) = requests
        and length(endings) = requests
        and cardinality(ran_us) = requests * json_array_length(stages)
    ),
    constraint batch_history_endings check (rtrim(endings, 'ste') = '')
);

-- Times compress badly, and every completed batch would wait for it.
alter table batch_history alter column arrived_us set storage external;
alter table batch_history alter column ran_us set storage external;

-- The last batches of a run, and of a plugin whatever its run.
create index batch_history_run on batch_history (tenant_id, run, ended_at);
create index batch_history_digest on batch_history (digest, ended_at);
-- What is old.
create index batch_history_ended on batch_history (ended_at);
