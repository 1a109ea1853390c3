-- What batches leave for those who look at many of them: a row of sums a batch, written with its
-- end in the same statement, and totals of each run.

create table batch_rollups (
    tenant_id uuid not null,
    batch_id uuid not null,
    run text not null,
    plugin text not null,
    version text not null,
    ended_at timestamptz not null,
    scored integer not null,
    timed_out integer not null,
    error integer not null,
    -- Over every request with a reward; null where there is none.
    reward_mean double precision,
    reward_std double precision,
    reward_min double precision,
    reward_max double precision,
    -- Bins of equal width between two bounds.
    histogram_from double precision,
    histogram_to double precision,
    histogram integer[],
    -- Requests by word and by code; worker seconds and cost by pool.
    verdicts json not null,
    errors json not null,
    worker_seconds json not null,
    cost json not null,
    groups integer not null,
    complete_groups integer not null,
    zero_variance_groups integer not null,
    -- The request that determines T, and the one that ended last.
    critical_seq integer,
    last_seq integer,
    -- Times of each stage.
    stages json not null,
    primary key (tenant_id, batch_id),
    constraint batch_rollups_rewards check (
        num_nulls(
            reward_mean, reward_std, reward_min, reward_max, histogram_from, histogram_to, histogram
        ) in (0, 7)
    ),
    constraint batch_rollups_groups check (
        0 <= zero_variance_groups and zero_variance_groups <= complete_groups
        and complete_groups <= groups
    )
);

-- The last batches of a plugin version.
create index batch_rollups_version on batch_rollups (tenant_id, plugin, version, ended_at);

-- Batches of a run that have ended, and the last of them; written with their end.
alter table runs
    add column ended_batches integer not null default 0,
    add column last_batch_at timestamptz,
    add column last_batch_id uuid,
    add constraint runs_last_batch check (
        (last_batch_at is null) = (last_batch_id is null)
        and (last_batch_at is null) = (ended_batches = 0)
    );

update runs set
    ended_batches = ended.batches,
    last_batch_at = ended.last_batch_at,
    last_batch_id = ended.last_batch_id
from (
    select tenant_id, run, count(*)::integer as batches, max(ended_at) as last_batch_at,
        (array_agg(id order by ended_at desc))[1] as last_batch_id
    from batches
    where ended_at is not null and sealed_at is distinct from announced_at
    group by tenant_id, run
) as ended
where runs.tenant_id = ended.tenant_id and runs.name = ended.run;

-- The one that was active last comes first.
create index runs_active on runs (tenant_id, (coalesce(last_batch_at, created_at)), name);

-- Lists of batches, the newest first, as their ids grow with time. Those that were made for one
-- request alone, which alone are sealed when they are announced, stand in none.
create index batches_listed on batches (tenant_id, id)
where sealed_at is distinct from announced_at;
create index batches_run on batches (tenant_id, run, id)
where sealed_at is distinct from announced_at;
create index batches_plugin on batches (tenant_id, plugin, id)
where sealed_at is distinct from announced_at;
create index batches_state on batches (tenant_id, state, id)
where sealed_at is distinct from announced_at;
-- Those that live.
create index batches_open on batches (tenant_id, run, id)
where ended_at is null;
