-- Golden cases of plugin versions: each document is kept by content, with the result of its run before the
-- version was published. A case that fails leaves no version.
create table golden_cases (
    tenant_id uuid not null,
    plugin text not null,
    version text not null,
    file text not null,
    -- SHA-256 of the document.
    digest bytea not null,
    state text not null,
    -- All empty for a case that was skipped.
    name text not null,
    expected text not null,
    actual text not null,
    reason text not null,
    ran_ms double precision not null,
    primary key (tenant_id, plugin, version, file),
    foreign key (tenant_id, plugin, version) references plugins (tenant_id, name, version),
    constraint golden_cases_state check (state in ('passed', 'not_run', 'skipped'))
);
