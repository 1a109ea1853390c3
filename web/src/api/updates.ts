// What the stream of events changes in what has been read. What an event tells whole is put in its
// place; of what it only says that it changed, pages that show it read it again, once a second at most.

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { withCounts, withDelta, withSnapshot } from "./changes";
import type { Schemas } from "./client";
import { type Listener, type LiveEvent, type LiveState, useLiveStream } from "./live";
import { sessionQuery } from "./session";

type Overview = Schemas["Overview"];
type Snapshot = Schemas["LiveSnapshot"];
type Delta = Schemas["LiveDelta"];
type BatchList = Schemas["BatchList"];

const SOON_MS = 1_000;
/** Of what is long, and moves little. */
const LATER_MS = 5_000;

/** Of the caller's own tenant, which is what the stream tells of. */
export const OVERVIEW_KEY = ["overview", false] as const;

const LISTENER: Listener = {
  names: ["snapshot", "delta"],
  apply,
  refused: (queries) => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
};

export function useLive(tenant: string): LiveState {
  return useLiveStream(tenant, LISTENER);
}

function apply(queries: QueryClient, { name, data }: LiveEvent): void {
  if (name === "snapshot") applySnapshot(queries, data as Snapshot);
  if (name === "delta") applyDelta(queries, data as Delta);
}

/** Batches that the stream has told of: another is a new one, which lists do not have yet. */
const living = new Set<string>();

function applySnapshot(queries: QueryClient, snapshot: Snapshot): void {
  queries.setQueryData<Overview>(
    OVERVIEW_KEY,
    (before) => before && withSnapshot(before, snapshot),
  );
  living.clear();
  for (const { id } of snapshot.batches) living.add(id);
  // Nobody knows what was missed before it.
  void queries.invalidateQueries({
    predicate: (query) => LIVE.has(query.queryKey[0]) && query.isStale(),
  });
}

const LIVE: ReadonlySet<unknown> = new Set([
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
  queries.setQueryData<Overview>(OVERVIEW_KEY, (before) => before && withDelta(before, delta));
  queries.setQueriesData<BatchList>(
    { queryKey: ["batches", "list"] },
    (before) => before && withCounts(before, delta.batches),
  );
  const ids = [...delta.batches, ...delta.ended].map(({ id }) => id);
  for (const id of ids) soon(queries, ["batches", "one", id]);
  const began = delta.batches.some(({ id }) => !living.has(id));
  for (const { id } of delta.batches) living.add(id);
  for (const { id } of delta.ended) living.delete(id);
  if (began || delta.ended.length > 0) {
    soon(queries, ["batches", "list"]);
    soon(queries, ["runs"]);
  }
  if (delta.incidents.length > 0) soon(queries, ["incidents"]);
  if (delta.pools.length > 0) {
    for (const key of [["capacity", "now"], ["workers"], ["queue"]]) soon(queries, key);
    soon(queries, ["capacity", "history"], LATER_MS);
  }
}

const waiting = new Map<string, ReturnType<typeof setTimeout>>();

/** However many events say so in the meantime. */
function soon(queries: QueryClient, queryKey: QueryKey, withinMs = SOON_MS): void {
  const name = queryKey.join(" ");
  if (waiting.has(name)) return;
  const timer = setTimeout(() => {
    waiting.delete(name);
    void queries.invalidateQueries({ queryKey });
  }, withinMs);
  waiting.set(name, timer);
}
