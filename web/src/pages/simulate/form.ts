// What is simulated, as the address has it, as the form has it, and as the server wants it.

import type { Schemas } from "../../api/client";
import { present, textOf, wholeOf } from "../../parts/search";

export interface SimulateSearch {
  /** A completed batch; else the last batches of a run. */
  batch?: string;
  run?: string;
  policy?: string;
  /** In milliseconds; each batch's own when absent. */
  tolerance?: number;
  /** The most workers by pool, such as `cpu:4,gpu:1`. */
  workers?: string;
}

export const POLICIES = [
  { value: "assay", label: "assay: the planner of this service" },
  { value: "distrs", label: "distrs: the planner as the paper has it" },
  { value: "history", label: "history: without its check of timeouts" },
  { value: "zq", label: "zq: as many as the last batch used without waiting" },
  { value: "ideal", label: "ideal: the planner, knowing what will come" },
  { value: "limit", label: "limit: as many as there may be, at once" },
  { value: "fixed", label: "fixed: always the most workers" },
];

export function simulateSearch(search: Record<string, unknown>): SimulateSearch {
  const policy = textOf(search, "policy");
  const workers = textOf(search, "workers");
  return present({
    batch: textOf(search, "batch"),
    run: textOf(search, "run"),
    policy: POLICIES.some(({ value }) => value === policy) ? policy : undefined,
    tolerance: wholeOf(search, "tolerance"),
    workers: workers && Object.keys(workersOf(workers)).length > 0 ? workers : undefined,
  });
}

/** Of `cpu:4,gpu:1`; what makes no sense is left out. */
export function workersOf(text: string): Record<string, number> {
  const pairs = text.split(",").map((pair) => pair.split(":"));
  return Object.fromEntries(
    pairs.flatMap(([pool, most]) => {
      const workers = Number(most);
      return pool && most && Number.isInteger(workers) && workers >= 0 ? [[pool, workers]] : [];
    }),
  );
}

export function workersText(workers: Record<string, number | string>): string | undefined {
  const bounded = Object.entries(workers).filter(([, most]) => most !== "");
  return bounded.map(([pool, most]) => `${pool}:${most}`).join(",") || undefined;
}

export function requestOf(search: SimulateSearch): Schemas["SimulationRequest"] {
  const { batch, run, policy, tolerance, workers } = search;
  return {
    ...(batch ? { batch } : { run: run ?? null }),
    policy: policy ?? "assay",
    pools_max: workersOf(workers ?? ""),
    ...(tolerance === undefined ? {} : { tolerance_ms: tolerance }),
  };
}

/** `math` of `team/math@1.0.0`. */
export function pluginName(plugin: string): string {
  return plugin.replace(/^.*\//, "").replace(/@.*$/, "");
}
