-- The time without calls after which the server seals a batch that it opened for calls of a trainer, also after a restart.
-- Batches of before have the usual one then.
alter table batches add column idle_ms integer check (idle_ms > 0);
