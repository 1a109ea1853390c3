-- The name in `by`, again, if it is one of the incident's tenant: a tenant is not shown another one. A release that does not know
-- this column leaves it, so that it differs from the name that such a release writes. Rows from before get the names of the
-- members and keys that the tenant has now.
alter table acknowledged_incidents add column by_in_tenant text;

update acknowledged_incidents a set by_in_tenant = a.by
where exists (
    select from members m join people p on p.id = m.person_id
    where m.tenant_id = a.tenant_id and p.email = a.by
) or exists (
    select from keys k
    where k.tenant_id = a.tenant_id and coalesce(nullif(k.name, ''), 'a key without a name') = a.by
);
