-- Keys that people made for themselves: what one opens is what both it and its person's role open now.
alter table keys add column person_id uuid references people (id);

create index keys_person on keys (person_id, tenant_id) where person_id is not null;

-- Incidents that somebody has seen: those of one tenant, kind, pool, run and code up to a time, which lies
-- in the future while they are muted. Absent parts are empty, so that there is one row for each.
create table acknowledged_incidents (
    -- Zeros for incidents of the platform.
    tenant_id uuid not null,
    kind text not null,
    pool text not null,
    run text not null,
    code text not null,
    until timestamptz not null,
    at timestamptz not null,
    -- Name of the key or address of the person.
    by text not null,
    primary key (tenant_id, kind, pool, run, code)
);

-- What is old.
create index acknowledged_incidents_until on acknowledged_incidents (until);
