-- Incidents of workers that got too little of the machine's processors.
alter table incidents drop constraint incidents_kind;
alter table incidents add constraint incidents_kind check (
    kind in (
        'worker_died', 'worker_killed', 'worker_start_failed', 'worker_starved', 'batch_late',
        'requests_failed'
    )
);
