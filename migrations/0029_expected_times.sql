-- The time that a request is expected to take, as its trainer says: requests of a batch are ordered by it, also after a
-- restart.
alter table requests add column expected_ms integer check (expected_ms between 0 and 86400000);
