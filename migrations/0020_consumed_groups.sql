-- Whether the trainer waits for each group, as one does that streams mini-batches, not for the whole batch.
alter table batches add column consumes_groups boolean not null default false;
