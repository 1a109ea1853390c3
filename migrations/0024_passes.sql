-- Numbers of a batch's groups and of the components of its rewards, written with its samples and absent until then.

alter table batch_rollups
    -- By k, the chance that one of k samples of a prompt passes.
    add column pass_at json,
    -- Groups by the part of their samples that passed: bins of equal width from 0 to 1.
    add column solve_rates integer[],
    -- Means of the components of rewards, by name.
    add column components json;

-- The promotions and rollbacks of a plugin, which mark the curves of its runs.
create index audit_promotions on audit (tenant_id, split_part(subject, '@', 1), at)
where action in ('plugin.promote', 'plugin.rollback');
