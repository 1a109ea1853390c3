// Connects the live stream to the query cache. Data in an event replaces the cached data. Where an
// event only says that something changed, open pages read it again, at most once per second.

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { withCounts, withDelta, withSnapshot } from "./changes";
import type { Schemas } from "./client";
import { type Listener, type LiveEvent, type LiveState, useLiveStream } from "./live";
import { readSession } from "./session";

type Overview = Schemas["Overview"];
type Snapshot = Schemas["LiveSnapshot"];
type Delta = Schemas["LiveDelta"];
type BatchList = Schemas["BatchList"];

const SOON_MS = 1_000;
/** Delay for answers that are long and change little. */
const LATER_MS = 5_000;

/** Key of the overview of the current tenant, which the stream describes. */
export const OVERVIEW_KEY = ["overview", false] as const;

const LISTENER: Listener = {
  names: ["snapshot", "delta"],
  apply: applyEvent,
  interrupted: (queries) => void readSession(queries),
};

export function useLive(tenant: string): LiveState {
  return useLiveStream(tenant, LISTENER);
}

/** Applies an event to the cached answers. */
export function applyEvent(queries: QueryClient, { name, data }: LiveEvent): void {
  if (name === "snapshot") applySnapshot(queries, data as Snapshot);
  if (name === "delta") applyDelta(queries, data as Delta);
}

/** Batches that the stream has mentioned. A new one is not in any list yet. */
const liveBatchIds = new Set<string>();

function applySnapshot(queries: QueryClient, snapshot: Snapshot): void {
  queries.setQueryData<Overview>(
    OVERVIEW_KEY,
    (before) => before && withSnapshot(before, snapshot),
  );
  liveBatchIds.clear();
  for (const { id } of snapshot.batches) liveBatchIds.add(id);
  // Events before the snapshot may be missing, so stale answers are read again.
  void queries.invalidateQueries({
    predicate: (query) => LIVE_KEYS.has(query.queryKey[0]) && query.isStale(),
  });
}

const LIVE_KEYS: ReadonlySet<unknown> = new Set([
  "overview",
  "runs",
  "batches",
  "requests",
  "incidents",
  "capacity",
  "workers",
  "queue",
]);

function applyDelta(queries: QueryClient, delta: Delta): void {
  // An answer on its way may be older than the delta, which it replaces.
  if (queries.isFetching({ queryKey: OVERVIEW_KEY }) > 0) invalidateSoon(queries, OVERVIEW_KEY);
  queries.setQueryData<Overview>(OVERVIEW_KEY, (before) => before && withDelta(before, delta));
  queries.setQueriesData<BatchList>(
    { queryKey: ["batches", "list"] },
    (before) => before && withCounts(before, delta.batches),
  );
  const ids = [...delta.batches, ...delta.ended].map(({ id }) => id);
  for (const id of ids) invalidateSoon(queries, ["batches", "one", id]);
  const began = delta.batches.some(({ id }) => !liveBatchIds.has(id));
  for (const { id } of delta.batches) liveBatchIds.add(id);
  for (const { id } of delta.ended) liveBatchIds.delete(id);
  if (began || delta.ended.length > 0) {
    invalidateSoon(queries, ["batches", "list"]);
    invalidateSoon(queries, ["runs"]);
  }
  if (delta.incidents.length > 0) {
    invalidateSoon(queries, ["incidents"]);
    invalidateSoon(queries, OVERVIEW_KEY);
  }
  if (delta.pools.length > 0) {
    for (const key of [["capacity", "now"], ["workers"], ["queue"]]) invalidateSoon(queries, key);
    invalidateSoon(queries, ["capacity", "history"], LATER_MS);
  }
}

const pendingTimers = new Map<string, ReturnType<typeof setTimeout>>();

/**
 * Invalidates a query once, even if several events ask for it within the delay. An answer on its way is
 * awaited: one that takes longer than the delay would else be dropped at each event, and never shown.
 */
function invalidateSoon(queries: QueryClient, queryKey: QueryKey, withinMs = SOON_MS): void {
  const name = queryKey.join(" ");
  if (pendingTimers.has(name)) return;
  const timer = setTimeout(() => {
    pendingTimers.delete(name);
    if (queries.isFetching({ queryKey }) > 0) invalidateSoon(queries, queryKey, withinMs);
    else void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  }, withinMs);
  pendingTimers.set(name, timer);
}
