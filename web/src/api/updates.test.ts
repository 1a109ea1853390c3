import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Schemas } from "./client";
import { applyEvent, OVERVIEW_KEY } from "./updates";

const AT = "2026-03-01T12:00:00Z";
const ID = "a";

const live: Schemas["LiveBatch"] = {
  id: ID,
  tenant: "t",
  run: "r",
  iteration: 1,
  plugin: "math@1.0.0",
  state: "open",
  counts: { submitted: 8, scored: 0, timed_out: 0, error: 0 },
  expected_size: 8,
  queued: 0,
  running: 0,
  announced_at: AT,
  tolerance_ms: 100,
};

const nothing: Schemas["LiveDelta"] = {
  at: AT,
  batches: [],
  batches_total: 1,
  ended: [],
  left: [],
  pools: [],
  incidents: [],
};

let queries: QueryClient;
beforeEach(() => {
  vi.useFakeTimers();
  queries = new QueryClient();
});
afterEach(() => {
  queries.clear();
  vi.useRealTimers();
});

/** Observes a query whose answers take a while; returns the answers that were shown. */
function observe(queryKey: readonly unknown[], tookMs: number, answer: () => unknown) {
  const shown: unknown[] = [];
  let calls = 0;
  let callsMax = 0;
  const queryFn = async () => {
    calls += 1;
    callsMax = Math.max(callsMax, calls);
    const read = answer();
    await new Promise((done) => setTimeout(done, tookMs));
    calls -= 1;
    return read;
  };
  const observer = new QueryObserver(queries, { queryKey, queryFn });
  observer.subscribe(({ data }) => {
    if (data !== undefined && shown.at(-1) !== data) shown.push(data);
  });
  return { shown, callsMax: () => callsMax };
}

it("shows answers that take longer than the time between two events, one call at a time", async () => {
  let version = 0;
  const slow = observe(["batches", "one", ID, "timeline"], 2_500, () => ++version);
  for (let second = 0; second < 20; second += 1) {
    applyEvent(queries, { name: "delta", data: { ...nothing, batches: [live] } });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(slow.shown.length).toBeGreaterThan(4);
  expect(slow.callsMax()).toBe(1);
});

it("reads the overview again if a batch ended while an older answer was on its way", async () => {
  let batches = [live];
  const overview = () => ({ at: AT, batches, batches_total: 1, queue: [], incidents: [] });
  const slow = observe(OVERVIEW_KEY, 500, overview);
  await vi.advanceTimersByTimeAsync(100);
  batches = [];
  const { id, tenant, run, iteration, plugin, counts } = live;
  const ended = [{ id, tenant, run, iteration, plugin, counts, state: "done" as const }];
  applyEvent(queries, { name: "delta", data: { ...nothing, ended } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(slow.shown.at(-1)).toMatchObject({ batches: [] });
});
