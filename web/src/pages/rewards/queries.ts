// Queries of the reward pages. The live stream (api/updates.ts) uses the same keys.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { pageOf } from "../../parts/exports";
import { memberOf } from "../../parts/json";
import { type RowsSearch, readRows } from "../../parts/rows";
import { present } from "../../parts/search";
import { boundsOf, type TimeRange } from "./range";
import { requestOf, type SourcedRequest } from "./request/source";

export type Batch = Schemas["Batch"];
export type Request = SourcedRequest;
export type Outcome = Schemas["Outcome"];

/** A run whose settings are the JSON that the server sent. */
export type RunView = Omit<Schemas["RunView"], "settings"> & { settings: string };

const PAGE = 50;
export const ITERATIONS_MAX = 1_000;
export const ITERATIONS_DEFAULT = 200;
const ALL_TENANTS_MS = 5_000;

/** The overview of all tenants has no stream, so it is polled. */
export const overviewQuery = (all: boolean) =>
  queryOptions({
    queryKey: ["overview", all],
    queryFn: () => data(api.GET("/v1/overview", { params: { query: all ? { all } : {} } })),
    refetchInterval: all ? ALL_TENANTS_MS : false,
  });

/** The rows of one call while a whole list is exported. */
const EXPORT_PAGE = 500;

export interface RunsFilter extends TimeRange, RowsSearch {
  q?: string;
  plugin?: string;
  after?: string;
}

export const runsQuery = ({ q, plugin, after, rows, within, from, to }: RunsFilter) =>
  queryOptions({
    queryKey: ["runs", "list", q, plugin, after, rows, within, from, to],
    queryFn: () => {
      const filter = {
        ...present({ q, plugin }),
        ...boundsOf(present({ within, from, to }), Date.now()),
      };
      const read = (cursor: string | undefined, limit: number) => {
        const query = { ...filter, ...present({ after: cursor }), limit };
        return data(api.GET("/v1/runs", { params: { query } }));
      };
      return readRows(read, after, rows);
    },
    placeholderData: keepPreviousData,
  });

/** Reads the whole list in large pages. */
export const runsExport =
  ({ q, plugin, ...range }: RunsFilter) =>
  async (after: string | undefined) => {
    const bounds = boundsOf(range, Date.now());
    const query = { ...present({ q, plugin, after }), ...bounds, limit: EXPORT_PAGE };
    const answer = await data(api.GET("/v1/runs", { params: { query }, parseAs: "text" }));
    return pageOf<string>(answer);
  };

export const runQuery = (run: string, last: number, curves: string | undefined) =>
  queryOptions({
    queryKey: ["runs", "one", run, last, curves],
    queryFn: async () => {
      const query = { last, ...present({ curves }) };
      const params = { path: { run }, query };
      return runOf(await data(api.GET("/v1/runs/{run}", { params, parseAs: "text" })));
    },
    placeholderData: keepPreviousData,
  });

/** Reads the answer of `GET /v1/runs/{run}`. */
export function runOf(json: string): RunView {
  const view = JSON.parse(json) as Schemas["RunView"];
  return { ...view, settings: memberOf(json, "settings") ?? "" };
}

/** The solve rate of a prompt, which is a group of a run. */
export const solveRatesQuery = (run: string, group: string) =>
  queryOptions({
    queryKey: ["runs", "solve-rates", run, group],
    queryFn: () => {
      const params = { path: { run }, query: { group } };
      return data(api.GET("/v1/runs/{run}/solve-rates", { params }));
    },
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

export interface BatchesFilter extends TimeRange, RowsSearch {
  state?: (typeof STATES)[number];
  run?: string;
  plugin?: string;
  late?: boolean;
  after?: string;
}

export const batchesQuery = ({
  state,
  run,
  plugin,
  late,
  after,
  rows,
  within,
  from,
  to,
}: BatchesFilter) =>
  queryOptions({
    queryKey: ["batches", "list", state, run, plugin, late, after, rows, within, from, to],
    queryFn: () => {
      const filter = {
        ...present({ state, run, plugin, late }),
        ...boundsOf(present({ within, from, to }), Date.now()),
      };
      const read = (cursor: string | undefined, limit: number) => {
        const query = { ...filter, ...present({ after: cursor }), limit };
        return data(api.GET("/v1/batches", { params: { query } }));
      };
      return readRows(read, after, rows);
    },
    placeholderData: keepPreviousData,
  });

/** Reads the whole list in large pages. */
export const batchesExport =
  ({ state, run, plugin, late, ...range }: BatchesFilter) =>
  async (after: string | undefined) => {
    const bounds = boundsOf(range, Date.now());
    const filter = present({ state, run, plugin, late, after });
    const query = { ...filter, ...bounds, limit: EXPORT_PAGE };
    const answer = await data(api.GET("/v1/batches", { params: { query }, parseAs: "text" }));
    return pageOf<string>(answer);
  };

const RECENT_BATCHES = 10;

/** The key is that of a list, which live events invalidate. */
export const recentBatchesQuery = queryOptions({
  queryKey: ["batches", "list", "recent"],
  queryFn: () => {
    const query = { state: "ended" as const, limit: RECENT_BATCHES };
    return data(api.GET("/v1/batches", { params: { query } }));
  },
});

export interface IncidentsFilter {
  kind?: Schemas["IncidentKind"];
  /** Name of the run. */
  run?: string;
  /** Each incident by itself instead of in groups. */
  each?: boolean;
  all?: boolean;
  /** Without acknowledged ones. */
  open?: boolean;
  after?: number;
}

/** Reads all incidents that match, each by itself. */
export const incidentsExport =
  ({ kind, run, all, open }: IncidentsFilter) =>
  async (after: number | undefined) => {
    const query = { ...present({ kind, run, all, open, after }), limit: EXPORT_PAGE };
    const answer = await data(api.GET("/v1/incidents", { params: { query }, parseAs: "text" }));
    return pageOf<number>(answer);
  };

export const incidentsQuery = ({ kind, run, each, all, open, after }: IncidentsFilter) =>
  queryOptions({
    queryKey: ["incidents", kind, run, each, all, open, after],
    queryFn: () => {
      const query = { ...present({ kind, run, all, open, after }), grouped: !each, limit: PAGE };
      return data(api.GET("/v1/incidents", { params: { query } }));
    },
    placeholderData: keepPreviousData,
  });

export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: ["batches", "one", id, "timeline"],
    queryFn: () => data(api.GET("/v1/batches/{id}/timeline", { params: { path: { id } } })),
  });

export const KINDS = ["waiting", "scored", "timed_out", "error"] as const;

export interface RequestsFilter extends RowsSearch {
  kind?: (typeof KINDS)[number];
  verdict?: string;
  q?: string;
  after?: number;
}

export const requestsQuery = (id: string, { kind, verdict, q, after, rows }: RequestsFilter) =>
  queryOptions({
    queryKey: ["batches", "one", id, "requests", kind, verdict, q, after, rows],
    queryFn: () => {
      const read = (cursor: number | undefined, limit: number) => {
        const query = { ...present({ kind, verdict, q, after: cursor }), limit };
        return data(api.GET("/v1/batches/{id}/requests", { params: { path: { id }, query } }));
      };
      return readRows(read, after, rows);
    },
    placeholderData: keepPreviousData,
  });

/** Reads all requests that match, in large pages. */
export const requestsExport =
  (id: string, { kind, verdict, q }: RequestsFilter) =>
  async (after: number | undefined) => {
    const query = { ...present({ kind, verdict, q, after }), limit: EXPORT_PAGE };
    const call = { params: { path: { id }, query }, parseAs: "text" as const };
    return pageOf<number>(await data(api.GET("/v1/batches/{id}/requests", call)));
  };

/** The most rollouts of a group that are compared. */
const GROUP_MAX = 32;
/** The most requests among which those of a group are found. */
const GROUP_SEARCHED_MAX = 500;

/**
 * The first rollouts of one group, and whether it may have more: its samples, or while these are not prepared its
 * requests, where the search also finds other groups with the name in theirs.
 */
export const groupQuery = (id: string, group: string) =>
  queryOptions({
    queryKey: ["batches", "one", id, "group", group],
    queryFn: async () => {
      const asked = { batch: id, group, limit: GROUP_MAX };
      const samples = await data(api.GET("/v1/samples", { params: { query: asked } }));
      if (samples.preparing === 0 && samples.items.length > 0) {
        return { items: samples.items, more: samples.next != null };
      }
      const query = { q: group, limit: GROUP_SEARCHED_MAX };
      const params = { path: { id }, query };
      const found = await data(api.GET("/v1/batches/{id}/requests", { params }));
      const items = found.items.filter((item) => item.group === group);
      return {
        items: items.slice(0, GROUP_MAX),
        more: items.length > GROUP_MAX || found.next != null,
      };
    },
  });

/** A request does not change after its end. */
export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", id],
    queryFn: async () => {
      const call = api.GET("/v1/requests/{id}", { params: { path: { id } }, parseAs: "text" });
      return requestOf(await data(call));
    },
    refetchInterval: ({ state }) => (state.data && !state.data.result ? 2_000 : false),
  });

export const logsQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ["requests", id, "logs", ended],
    queryFn: () => data(api.GET("/v1/requests/{id}/logs", { params: { path: { id } } })),
  });

/** The first plugins of the tenant by name. */
export const firstPluginsQuery = queryOptions({
  queryKey: ["plugins", "first"],
  queryFn: () => data(api.GET("/v1/plugins", { params: { query: { limit: PAGE } } })),
});
