-- Incidents of trainers whose key was refused: nobody knows whose they are.
alter table incidents drop constraint incidents_whose;
alter table incidents add constraint incidents_whose check (
    kind = 'reward_missing' or (tenant_id is null) = (kind like 'worker_%')
);
