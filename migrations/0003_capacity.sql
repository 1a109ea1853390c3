-- Bounds of a pool that were set while the server ran; they override its command line.
create table capacity (
    pool text primary key,
    workers_min integer not null,
    workers_max integer not null,
    set_at timestamptz not null,
    constraint capacity_bounds check (workers_min between 0 and workers_max)
);
