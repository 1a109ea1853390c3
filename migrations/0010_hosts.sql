-- Hosts that a tenant's plugins may send requests to; none unless an administrator names them.
alter table tenants add column hosts text[] not null default '{}';
