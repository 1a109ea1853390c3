// Queries of the reward pages. The live stream (api/updates.ts) uses the same keys.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { present } from "../../parts/search";
import { boundsOf, type TimeRange } from "./range";

export type Batch = Schemas["Batch"];
export type Request = Schemas["Request"];
export type Outcome = Schemas["Outcome"];

const PAGE = 50;
/**
 * The server cannot filter by lateness, so this page size is large enough to contain late batches.
 */
const PAGE_OF_LATE = 500;
export const ITERATIONS_MAX = 1_000;
const ALL_TENANTS_MS = 5_000;

/** The overview of all tenants has no stream, so it is polled. */
export const overviewQuery = (all: boolean) =>
  queryOptions({
    queryKey: ["overview", all],
    queryFn: () => data(api.GET("/v1/overview", { params: { query: all ? { all } : {} } })),
    refetchInterval: all ? ALL_TENANTS_MS : false,
  });

export interface RunsFilter extends TimeRange {
  q?: string;
  plugin?: string;
  after?: string;
}

export const runsQuery = ({ q, plugin, after, ...range }: RunsFilter) =>
  queryOptions({
    queryKey: ["runs", "list", q, plugin, after, range],
    queryFn: () => {
      const query = {
        ...present({ q, plugin, after }),
        ...boundsOf(range, Date.now()),
        limit: PAGE,
      };
      return data(api.GET("/v1/runs", { params: { query } }));
    },
    placeholderData: keepPreviousData,
  });

export const runQuery = (run: string, last: number, curves: string | undefined) =>
  queryOptions({
    queryKey: ["runs", "one", run, last, curves],
    queryFn: () => {
      const query = { last, ...present({ curves }) };
      return data(api.GET("/v1/runs/{run}", { params: { path: { run }, query } }));
    },
    placeholderData: keepPreviousData,
  });

export interface RunLogsFilter {
  verdict?: string;
  level?: (typeof LEVELS)[number];
  after?: string;
}

export const LEVELS = ["debug", "info", "warn", "error", "stderr"] as const;

export const runLogsQuery = (run: string, { verdict, level, after }: RunLogsFilter) =>
  queryOptions({
    queryKey: ["runs", "logs", run, verdict, level, after],
    queryFn: () => {
      const query = { ...present({ verdict, level, after }), limit: PAGE };
      return data(api.GET("/v1/runs/{run}/logs", { params: { path: { run }, query } }));
    },
    placeholderData: keepPreviousData,
  });

export const STATES = [
  "live",
  "ended",
  "announced",
  "open",
  "sealed",
  "done",
  "cancelled",
  "expired",
] as const;

export interface BatchesFilter extends TimeRange {
  state?: (typeof STATES)[number];
  run?: string;
  plugin?: string;
  late?: boolean;
  after?: string;
}

export const batchesQuery = ({ state, run, plugin, late, after, ...range }: BatchesFilter) =>
  queryOptions({
    queryKey: ["batches", "list", state, run, plugin, late, after, range],
    queryFn: async () => {
      const limit = late ? PAGE_OF_LATE : PAGE;
      const bounds = boundsOf(range, Date.now());
      const query = { ...present({ state, run, plugin, after }), ...bounds, limit };
      const list = await data(api.GET("/v1/batches", { params: { query } }));
      return late ? { ...list, items: list.items.filter((item) => item.late) } : list;
    },
    placeholderData: keepPreviousData,
  });

export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: ["batches", "one", id, "timeline"],
    queryFn: () => data(api.GET("/v1/batches/{id}/timeline", { params: { path: { id } } })),
  });

export const KINDS = ["waiting", "scored", "timed_out", "error"] as const;

export interface RequestsFilter {
  kind?: (typeof KINDS)[number];
  verdict?: string;
  q?: string;
  after?: number;
}

export const requestsQuery = (id: string, { kind, verdict, q, after }: RequestsFilter) =>
  queryOptions({
    queryKey: ["batches", "one", id, "requests", kind, verdict, q, after],
    queryFn: () => {
      const query = { ...present({ kind, verdict, q, after }), limit: PAGE };
      return data(api.GET("/v1/batches/{id}/requests", { params: { path: { id }, query } }));
    },
    placeholderData: keepPreviousData,
  });

/** A request does not change after its end. */
export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", id],
    queryFn: () => data(api.GET("/v1/requests/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data && !state.data.result ? 2_000 : false),
  });

export const logsQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ["requests", id, "logs", ended],
    queryFn: () => data(api.GET("/v1/requests/{id}/logs", { params: { path: { id } } })),
  });

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["plugins", "one", name],
    queryFn: () => data(api.GET("/v1/plugins/{name}", { params: { path: { name } } })),
  });
