-- What a plan expected of a batch half-way between its first request and its end, where one did: T, and the end.
alter table batch_rollups
    add column expected_earliest_end_at timestamptz,
    add column expected_done_at timestamptz,
    add constraint batch_rollups_expected check (
        (expected_earliest_end_at is null) = (expected_done_at is null)
    );
