-- Whether a tenant's workers are shared between its runs; the earliest batch decides otherwise.
alter table tenants add column share_runs boolean not null default false;
