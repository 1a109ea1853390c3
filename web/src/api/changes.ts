// Applies events of the live stream to cached answers of the server.

import type { Schemas } from "./client";

type Overview = Schemas["Overview"];
type Snapshot = Schemas["LiveSnapshot"];
type Delta = Schemas["LiveDelta"];
type LiveBatch = Schemas["LiveBatch"];
type BatchList = Schemas["BatchList"];

export function withSnapshot(before: Overview, snapshot: Snapshot): Overview {
  const { at, batches, batches_total, queue, pools } = snapshot;
  return { ...before, at, batches, batches_total, queue, ...(pools ? { pools } : {}) };
}

export function withDelta(before: Overview, delta: Delta): Overview {
  const removed = new Set([...delta.ended.map(({ id }) => id), ...delta.left]);
  const changed = new Map(delta.batches.map((batch) => [batch.id, batch]));
  const unchanged = before.batches.filter(({ id }) => !removed.has(id) && !changed.has(id));
  const pools = new Map(delta.pools.map((pool) => [pool.pool, pool]));
  return {
    at: delta.at,
    batches: [...unchanged, ...delta.batches].sort(byUrgency),
    batches_total: delta.batches_total,
    queue: delta.queue ?? before.queue,
    ...(before.pools ? { pools: before.pools.map((pool) => pools.get(pool.pool) ?? pool) } : {}),
    // The server groups incidents, so that they are read again.
    incidents: before.incidents,
  };
}

/** Orders by deadline; batches without a first request have none and come last. */
function byUrgency(one: LiveBatch, other: LiveBatch): number {
  const due = (batch: LiveBatch) =>
    batch.due_at ? Date.parse(batch.due_at) : Number.POSITIVE_INFINITY;
  const [a, b] = [due(one), due(other)];
  if (a !== b) return a - b;
  return Date.parse(one.announced_at) - Date.parse(other.announced_at);
}

/** Returns the list with the current counts of its live batches. */
export function withCounts(before: BatchList, live: readonly LiveBatch[]): BatchList {
  const changed = new Map(live.map((batch) => [batch.id, batch]));
  if (!before.items.some(({ batch }) => changed.has(batch.id))) return before;
  const items = before.items.map((item) => {
    const now = changed.get(item.batch.id);
    if (!now) return item;
    const { state, counts, estimated_done_at } = now;
    return { ...item, batch: { ...item.batch, state, counts, estimated_done_at } };
  });
  return { ...before, items };
}
