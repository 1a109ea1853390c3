-- The tenant in which an incident was acknowledged: another tenant is not shown by whom. Of rows from before, a tenant is shown
-- its own members and keys.
alter table acknowledged_incidents add column by_tenant_id uuid;

update acknowledged_incidents a set by_tenant_id = a.tenant_id
where exists (
    select from members m join people p on p.id = m.person_id
    where m.tenant_id = a.tenant_id and p.email = a.by
) or exists (
    select from keys k where k.tenant_id = a.tenant_id and k.name = a.by
);
