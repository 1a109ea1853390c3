-- The tolerance (the paper's D) by which a batch was judged when it ended: its own, or the platform's at
-- that time. Absent for batches that ended before, which are judged by their own alone.
alter table batches add column tolerance_ms integer;

-- Late batches, the newest first.
create index batches_late on batches (tenant_id, id)
where sealed_at is distinct from announced_at
    and state = 'done'
    and ended_at - earliest_end_at > coalesce(tolerance_ms, max_extra_delay_ms) * interval '1 millisecond';

-- Incidents of trainers that stopped sending requests to an open batch.
alter table incidents drop constraint incidents_kind;
alter table incidents add constraint incidents_kind check (
    kind in (
        'worker_died', 'worker_killed', 'worker_start_failed', 'worker_starved', 'batch_late',
        'requests_failed', 'trainer_silent'
    )
);
