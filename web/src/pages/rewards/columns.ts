// Columns of exported lists: paths into the rows of the interface.

export const RUN_COLUMNS = [
  "name",
  "plugin",
  "live_batches",
  "batches",
  "last_iteration",
  "last_mean_reward",
  "last_batch_at",
  "created_at",
];

export const BATCH_COLUMNS = [
  "batch.id",
  "batch.run",
  "batch.iteration",
  "batch.plugin",
  "batch.state",
  "batch.announced_at",
  "batch.done_at",
  "batch.counts.submitted",
  "batch.counts.scored",
  "batch.counts.timed_out",
  "batch.counts.error",
  "batch.mean_reward",
  "rollup.rewards.std",
  "rollup.complete_groups",
  "rollup.zero_variance_groups",
  "batch.extra_delay_ms",
  "late",
];

export const REQUEST_COLUMNS = [
  "id",
  "seq",
  "key",
  "group",
  "arrived_at",
  "kind",
  "verdict",
  "reward",
  "took_ms",
  "message",
];

export const SAMPLE_COLUMNS = [
  "id",
  "run",
  "iteration",
  "key",
  "group",
  "group_rewards",
  "kind",
  "verdict",
  "reward",
  "advantage",
  "prompt",
  "response",
  "label",
  "prompt_chars",
  "response_chars",
  "took_ms",
];

export const INCIDENT_COLUMNS = [
  "at",
  "kind",
  "tenant",
  "run",
  "pool",
  "batch",
  "code",
  "count",
  "detail",
];
