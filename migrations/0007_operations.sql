-- What went wrong lately, in words: for people who look at the service. Written by one writer, which
-- folds what comes too often into one row; deleted when it is old.
create table incidents (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    -- The platform's own when absent.
    tenant_id uuid,
    kind text not null,
    pool text,
    batch_id uuid,
    run text,
    code text,
    count integer not null,
    detail text not null,
    constraint incidents_kind check (
        kind in ('worker_died', 'worker_killed', 'worker_start_failed', 'batch_late', 'requests_failed')
    ),
    constraint incidents_whose check ((tenant_id is null) = (kind like 'worker_%')),
    constraint incidents_count check (count > 0)
);

create index incidents_tenant on incidents (tenant_id, id);
-- What is old.
create index incidents_at on incidents (at);

-- How pools stood: written when something changed, every two seconds at most, and once a minute.
create table capacity_samples (
    pool text not null,
    at timestamptz not null,
    demand integer not null,
    -- Of the plan: absent before the first.
    zero_queue integer,
    hold integer,
    ceiling integer,
    starting integer not null,
    idle integer not null,
    busy integer not null,
    draining integer not null,
    queued integer not null,
    -- Of all its workers, a second.
    cost double precision not null,
    -- Why the plan is what it is, in words.
    reason text,
    primary key (pool, at),
    constraint capacity_samples_plan check (
        (zero_queue is null) = (hold is null)
        and (zero_queue is null) = (ceiling is null)
        and (zero_queue is null) = (reason is null)
    )
);

-- What is old.
create index capacity_samples_at on capacity_samples (at);
