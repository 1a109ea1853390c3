// URL state of the reward pages.

import { KIND_NAMES } from "../../parts/incidents";
import { rowsSearch } from "../../parts/rows";
import { present, textOf, wholeOf } from "../../parts/search";
import { type SortSearch, sortSearch } from "../../parts/sortSearch";
import { AXES, type Axis, METRICS, type Metric, RUNS_MAX } from "./compare/compare";
import {
  type BatchesFilter,
  type IncidentsFilter,
  ITERATIONS_MAX,
  KINDS,
  LEVELS,
  type RequestsFilter,
  type RunLogsFilter,
  type RunsFilter,
  STATES,
} from "./queries";
import { rangeOf } from "./range";
import { baselineOf } from "./runs/drift";
import type { Order } from "./timeline/model";

type Search = Record<string, unknown>;

function oneOf<T extends string>(search: Search, name: string, all: readonly T[]): T | undefined {
  return all.find((one) => one === search[name]);
}

export function overviewSearch(search: Search): { all?: boolean } {
  return search.all === true ? { all: true } : {};
}

export function runsSearch(search: Search): RunsFilter & SortSearch {
  return present({
    q: textOf(search, "q"),
    plugin: textOf(search, "plugin"),
    after: textOf(search, "after"),
    ...rangeOf(search),
    ...rowsSearch(search),
    ...sortSearch(search),
  });
}

/** Runs that are compared, and how. */
export interface CompareSearch {
  runs?: string[];
  metric?: Metric;
  axis?: Axis;
  /** Part of each value that comes from those before it, 0 to 0.95. */
  smoothing?: number;
}

export function compareSearch(search: Search): CompareSearch {
  const { runs, smoothing } = search;
  const names = (Array.isArray(runs) ? runs : [runs])
    .filter((run) => typeof run === "string" || typeof run === "number")
    .map(String);
  const smooth = typeof smoothing === "number" && smoothing > 0 && smoothing <= 0.95;
  return present({
    runs: names.length > 0 ? [...new Set(names)].slice(0, RUNS_MAX) : undefined,
    metric: oneOf(search, "metric", METRICS),
    axis: oneOf(search, "axis", AXES),
    smoothing: smooth ? smoothing : undefined,
  });
}

/** Filters of the log lines, and the selected iterations. */
export interface RunSearch extends RunLogsFilter, SortSearch {
  /** Number of latest batches. */
  last?: number;
  /** Batches in the arrival chart, separated by commas. */
  curves?: string;
  /** The iterations with which the others are compared, as `baselineOf` reads them. */
  baseline?: string | number;
}

export function runSearch(search: Search): RunSearch {
  const last = wholeOf(search, "last");
  const baseline = textOf(search, "baseline");
  const isFirst = typeof search.baseline === "number";
  return present({
    last: last && last <= ITERATIONS_MAX ? last : undefined,
    curves: textOf(search, "curves"),
    // A number stays one, as the address would quote it otherwise.
    baseline: baselineOf(baseline) ? (isFirst ? Number(baseline) : baseline) : undefined,
    verdict: textOf(search, "verdict"),
    level: oneOf(search, "level", LEVELS),
    after: textOf(search, "after"),
    ...sortSearch(search),
  });
}

export function batchesSearch(search: Search): BatchesFilter & SortSearch {
  return present({
    state: oneOf(search, "state", STATES),
    run: textOf(search, "run"),
    plugin: textOf(search, "plugin"),
    late: search.late === true ? true : undefined,
    after: textOf(search, "after"),
    ...rangeOf(search),
    ...rowsSearch(search),
    ...sortSearch(search),
  });
}

export function incidentsSearch(search: Search): IncidentsFilter {
  return present({
    kind: oneOf(search, "kind", KIND_NAMES),
    run: textOf(search, "run"),
    each: search.each === true ? true : undefined,
    all: search.all === true ? true : undefined,
    open: search.open === true ? true : undefined,
    after: wholeOf(search, "after"),
  });
}

export interface BatchSearch extends RequestsFilter, SortSearch {
  /** Row order of the timeline; by arrival when absent. */
  order?: Order;
  /** Position of the request that is shown beside the list. */
  sample?: number;
  /** Name of the group that is compared. */
  group?: string;
}

export function batchSearch(search: Search): BatchSearch {
  return present({
    order: oneOf(search, "order", ["end"] as const),
    kind: oneOf(search, "kind", KINDS),
    verdict: textOf(search, "verdict"),
    q: textOf(search, "q"),
    after: wholeOf(search, "after"),
    sample: wholeOf(search, "sample"),
    group: textOf(search, "group"),
    ...rowsSearch(search),
    ...sortSearch(search),
  });
}

export interface RequestSearch {
  /** Version to compare with. */
  version?: string;
}

export function requestSearch(search: Search): RequestSearch {
  return present({ version: textOf(search, "version") });
}
