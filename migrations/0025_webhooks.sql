-- Addresses that are told of incidents.
create table webhooks (
    id uuid primary key,
    tenant_id uuid not null references tenants (id),
    name text not null,
    -- A secret where the receiver takes everything that comes to it, as chats do.
    url text not null,
    form text not null,
    -- All kinds when empty.
    kinds text[] not null,
    -- Also told of the platform's incidents.
    platform boolean not null,
    -- The key of the signatures.
    secret bytea not null,
    created_at timestamptz not null,
    created_by text not null,
    constraint webhooks_name_unique unique (tenant_id, name),
    constraint webhooks_form check (form in ('json', 'slack'))
);

-- One message to a webhook: on its way, delivered, or given up.
create table webhook_deliveries (
    id bigint generated always as identity primary key,
    webhook_id uuid not null references webhooks (id) on delete cascade,
    -- The incident, as it was when the delivery was made; null for a test.
    incident json,
    -- The kind, pool, run and code of the incident with its tenant, by which incidents are alike.
    topic text not null,
    made_at timestamptz not null,
    state text not null,
    tries integer not null,
    -- When it is tried next; of no meaning once it has ended.
    due_at timestamptz not null,
    -- Why the latest try failed.
    error text,
    ended_at timestamptz,
    constraint webhook_deliveries_state check (state in ('waiting', 'delivered', 'failed')),
    constraint webhook_deliveries_ended check ((state = 'waiting') = (ended_at is null))
);

create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_topic on webhook_deliveries (webhook_id, topic, made_at);
-- How many wait is counted for each incident that a webhook may be told of.
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id) where state = 'waiting';
create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'waiting';
-- What is old.
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
