-- Incidents of runs whose rewards or verdicts differ from those of their iterations before.
alter table incidents drop constraint incidents_kind;
alter table incidents add constraint incidents_kind check (
    kind in (
        'worker_died', 'worker_killed', 'worker_start_failed', 'worker_starved', 'batch_late',
        'requests_failed', 'trainer_silent', 'reward_missing', 'reward_dropped', 'verdicts_changed'
    )
);
