// Queries of the platform pages: pools, their history, queues and workers.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export type Pool = Schemas["PoolCapacity"];
export type PoolHistory = Schemas["PoolHistory"];
export type Sample = Schemas["CapacitySample"];
export type PoolQueue = Schemas["PoolQueue"];
export type Worker = Schemas["Worker"];

/** Polling interval: workers start and stop without an event. */
const EVERY_MS = 5_000;

export const capacityQuery = queryOptions({
  queryKey: ["capacity", "now"],
  queryFn: () => data(api.GET("/v1/capacity")),
  refetchInterval: EVERY_MS,
});

export const historyQuery = (minutes: number) =>
  queryOptions({
    queryKey: ["capacity", "history", minutes],
    queryFn: () => {
      const from = new Date(Date.now() - minutes * 60_000).toISOString();
      return data(api.GET("/v1/capacity/history", { params: { query: { from } } }));
    },
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });

export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: () => data(api.GET("/v1/queue")),
  refetchInterval: EVERY_MS,
});

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: () => data(api.GET("/v1/workers")),
  refetchInterval: EVERY_MS,
});
