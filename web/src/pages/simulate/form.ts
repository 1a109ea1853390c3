// Converts simulation settings between URL, form and API request.

import type { Schemas } from "../../api/client";
import type { FieldPaths } from "../../parts/fields";
import { present, textOf, wholeOf } from "../../parts/search";

export interface SimulateSearch {
  /** A completed batch; if absent, the latest batches of `run`. */
  batch?: string;
  run?: string;
  policy?: string;
  /** Delay tolerance in milliseconds; the tolerance of each batch when absent. */
  tolerance?: number;
  /** Max workers by pool, such as `cpu:4,gpu:1`. */
  workers?: string;
}

/** Value of a number field; empty text means no limit. */
export type Field = number | string;

const NO_WORKERS = "Enter 1 or more: a stage without workers cannot run.";

/** Problems of the fields `workers.POOL`, found before sending. */
export function workerProblems(workers: Record<string, Field>): Record<string, string> {
  const none = Object.entries(workers).filter(([, most]) => most !== "" && Number(most) === 0);
  return Object.fromEntries(none.map(([pool]) => [`workers.${pool}`, NO_WORKERS]));
}

/** Paths in the form of the members that a refusal may name. */
export const PATHS: FieldPaths = { "pools_max.*": "workers.*", policy: "policy" };

export const POLICIES = [
  { value: "assay", label: "assay: the planner of this server" },
  { value: "distrs", label: "distrs: the planner of the DistRS paper" },
  { value: "history", label: "history: distrs without the timeout check" },
  { value: "zq", label: "zq: the workers that give zero wait in the last batch" },
  { value: "ideal", label: "ideal: perfect knowledge, planned when batches start and end" },
  { value: "limit", label: "limit: perfect knowledge, planned at any time" },
  { value: "fixed", label: "fixed: always the maximum number of workers" },
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

/** Parses `cpu:4,gpu:1`; invalid parts are ignored. */
export function workersOf(text: string): Record<string, number> {
  const pairs = text.split(",").map((pair) => pair.split(":"));
  return Object.fromEntries(
    pairs.flatMap(([pool, most]) => {
      const workers = Number(most);
      return pool && most && Number.isInteger(workers) && workers >= 0 ? [[pool, workers]] : [];
    }),
  );
}

export function workersText(workers: Record<string, Field>): string | undefined {
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

/** Returns `math` for `team/math@1.0.0`. */
export function pluginName(plugin: string): string {
  return plugin.replace(/^.*\//, "").replace(/@.*$/, "");
}
