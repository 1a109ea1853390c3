-- Incidents of trainers that got an answer without a reward.
alter table incidents drop constraint incidents_kind;
alter table incidents add constraint incidents_kind check (
    kind in (
        'worker_died', 'worker_killed', 'worker_start_failed', 'worker_starved', 'batch_late',
        'requests_failed', 'trainer_silent', 'reward_missing'
    )
);
