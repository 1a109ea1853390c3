import { describe, expect, it } from "vitest";
import { withCounts, withDelta, withSnapshot } from "./changes";
import type { Schemas } from "./client";

const AT = "2026-03-01T12:00:00Z";

function batch(id: string, due: number | null, scored = 0): Schemas["LiveBatch"] {
  return {
    id,
    tenant: "t",
    run: "r",
    iteration: 1,
    plugin: "math@1.0.0",
    state: "open",
    counts: { submitted: 8, scored, timed_out: 0, error: 0 },
    expected_size: 8,
    queued: 0,
    running: 0,
    announced_at: AT,
    tolerance_ms: 100,
    ...(due === null ? {} : { due_at: new Date(Date.parse(AT) + due).toISOString() }),
  };
}

function incident(id: number, count = 1): Schemas["Incident"] {
  const at = new Date(Date.parse(AT) + id).toISOString();
  return { id, at, kind: "worker_died", pool: "cpu", count, detail: "it died" };
}

const overview: Schemas["Overview"] = {
  at: AT,
  batches: [batch("a", 1000), batch("b", 2000), batch("c", null)],
  batches_total: 3,
  queue: [{ plugin: "math@1.0.0", stage: "s", pool: "cpu", queued: 1, running: 1 }],
  incidents: [incident(1)],
};

const delta: Schemas["LiveDelta"] = {
  at: "2026-03-01T12:00:01Z",
  batches: [],
  batches_total: 3,
  ended: [],
  left: [],
  pools: [],
  incidents: [],
};

const ids = ({ batches }: Schemas["Overview"]) => batches.map(({ id }) => id);

describe("a delta", () => {
  it("replaces and adds batches and keeps the most urgent first", () => {
    const updates = [batch("b", 500, 7), batch("d", 700)];
    const after = withDelta(overview, { ...delta, batches: updates, batches_total: 4 });
    expect(ids(after)).toEqual(["b", "d", "a", "c"]);
    expect(after.batches[0]?.counts.scored).toBe(7);
    expect(after.batches_total).toBe(4);
    expect(after.queue).toBe(overview.queue);
  });
  it("removes batches that have ended or are no longer urgent", () => {
    const { counts, id, tenant, run, iteration, plugin } = batch("a", null, 8);
    const ended = [{ id, tenant, run, iteration, plugin, counts, state: "done" as const }];
    expect(ids(withDelta(overview, { ...delta, ended, left: ["c"] }))).toEqual(["b"]);
  });
  it("keeps the grouped incidents, which are read again", () => {
    const after = withDelta(overview, { ...delta, incidents: [incident(1, 5), incident(2)] });
    expect(after.incidents).toBe(overview.incidents);
  });
});

it("a snapshot replaces live batches and keeps incidents, which it does not contain", () => {
  const { batches_total, queue } = overview;
  const after = withSnapshot(overview, { at: AT, batches: [batch("z", 1)], batches_total, queue });
  expect(ids(after)).toEqual(["z"]);
  expect(after.incidents).toEqual(overview.incidents);
});

describe("a list of batches", () => {
  const { id, state, plugin, run, iteration, counts, announced_at } = batch("a", null);
  const listed = { id, state, plugin, run, iteration, counts, announced_at, plugin_digest: "d" };
  const list: Schemas["BatchList"] = { items: [{ batch: listed, late: false }] };
  it("takes the counts of live batches", () => {
    const after = withCounts(list, [batch("a", 1, 5), batch("b", 1)]);
    expect(after.items.map((item) => item.batch.counts.scored)).toEqual([5]);
  });
  it("is the same object if it contains no live batch", () => {
    expect(withCounts(list, [batch("b", 1)])).toBe(list);
  });
});
