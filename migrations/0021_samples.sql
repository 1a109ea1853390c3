-- Samples: the requests of ended batches as readers sort, filter and search them. A row is made from what is
-- stored, after the end of its batch, and is deleted with the batch. Everything here can be made again.

create table samples (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    run text not null,
    iteration bigint not null,
    key text collate "C" not null,
    group_name text collate "C",
    arrived_at timestamptz not null,
    -- From its arrival to its end.
    took_ms double precision not null,
    kind text collate "C" not null,
    verdict text collate "C" not null,
    reward double precision,
    -- The distance of the reward from the mean of its group, in standard deviations.
    advantage double precision,
    -- How the rewards of its group differ, if the group is complete.
    group_rewards text,
    components jsonb not null,
    -- Lengths in characters.
    prompt_chars integer not null,
    response_chars integer not null,
    -- Beginnings, by which rows are sorted.
    prompt text collate "C" not null,
    response text collate "C" not null,
    label text collate "C" not null,
    primary key (tenant_id, batch_id, seq),
    constraint samples_kind check (kind in ('scored', 'timed_out', 'error')),
    constraint samples_reward check ((kind = 'error') = (reward is null)),
    constraint samples_group_rewards check (group_rewards in ('all_right', 'all_wrong', 'mixed'))
);

-- The orders in which the samples of a run are read without sorting all of them. An error has no reward; it
-- counts as below all.
create index samples_iteration
on samples (tenant_id, run, (iteration::double precision), batch_id, seq);
create index samples_reward
on samples (tenant_id, run, (coalesce(reward, '-infinity'::double precision)), batch_id, seq);
create index samples_response_chars
on samples (tenant_id, run, (response_chars::double precision), batch_id, seq);
create index samples_took on samples (tenant_id, run, took_ms, batch_id, seq);
create index samples_verdict on samples (tenant_id, run, verdict, batch_id, seq);
create index samples_group
on samples (tenant_id, run, (coalesce(group_name, '' collate "C")), batch_id, seq);

-- What a page shows of the texts, and the words by which they are found. It stands apart, so that a walk
-- through many samples reads none of it.
create table sample_texts (
    tenant_id uuid not null,
    batch_id uuid not null,
    seq integer not null,
    prompt text not null,
    response text not null,
    label text not null,
    -- With a mark of the run and one of the batch among the words, so that one index serves searches in
    -- either. Null while words are not indexed.
    words tsvector,
    primary key (tenant_id, batch_id, seq)
);

create index sample_texts_words on sample_texts using gin (words) where words is not null;

-- The groups with zero variance whose rewards are above zero; absent until the batch's samples are written.
alter table batch_rollups add column all_right_groups integer;

-- Absent until the samples of an ended batch are written.
alter table batches add column sampled_at timestamptz;

-- What is still to be written; empty most of the time.
create index batches_unsampled on batches (tenant_id, id)
where ended_at is not null and sampled_at is null and expired_at is null
    and sealed_at is distinct from announced_at;

-- The runs of a plugin version.
create index runs_version on runs (tenant_id, plugin, version, created_at);
