// Routes of the reward pages: overview, runs, batches and requests.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { shellRoute } from "../../shell/routes";
import { ITERATIONS_DEFAULT, runQuery, timelineQuery } from "./queries";
import { samplesQuery, samplesSearch } from "./samples/search";
import {
  batchesSearch,
  batchSearch,
  compareSearch,
  incidentsSearch,
  overviewSearch,
  requestSearch,
  runSearch,
  runsSearch,
} from "./searches";

const overview = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  validateSearch: overviewSearch,
  component: lazyPage(() => import("./overview/Overview"), "Overview"),
});

const runs = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs",
  validateSearch: runsSearch,
  component: lazyPage(() => import("./runs/Runs"), "Runs"),
});

const compare = createRoute({
  getParentRoute: () => shellRoute,
  path: "/compare",
  validateSearch: compareSearch,
  component: lazyPage(() => import("./compare/Compare"), "Compare"),
});

const run = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs/$run",
  validateSearch: runSearch,
  component: lazyPage(() => import("./runs/Run"), "Run"),
  loaderDeps: ({ search: { last = ITERATIONS_DEFAULT, curves } }) => ({ last, curves }),
  // The answer is on its way while the code of the page loads. The page tells what fails.
  loader: ({ context: { queries }, params, deps }) =>
    void queries.prefetchQuery(runQuery(params.run, deps.last, deps.curves)),
  remountDeps: ({ params }) => params,
});

const batches = createRoute({
  getParentRoute: () => shellRoute,
  path: "/batches",
  validateSearch: batchesSearch,
  component: lazyPage(() => import("./batches/Batches"), "Batches"),
});

const incidents = createRoute({
  getParentRoute: () => shellRoute,
  path: "/incidents",
  validateSearch: incidentsSearch,
  component: lazyPage(() => import("./incidents/Incidents"), "Incidents"),
});

const batch = createRoute({
  getParentRoute: () => shellRoute,
  path: "/batches/$batch",
  remountDeps: ({ params }) => params,
  validateSearch: batchSearch,
  component: lazyPage(() => import("./batch/BatchPage"), "BatchPage"),
  loader: ({ context: { queries }, params }) =>
    void queries.prefetchQuery(timelineQuery(params.batch)),
});

const samples = createRoute({
  getParentRoute: () => shellRoute,
  path: "/samples",
  validateSearch: samplesSearch,
  component: lazyPage(() => import("./samples/SamplesPage"), "SamplesPage"),
  loaderDeps: ({ search: { sample, compare, ...listed } }) => listed,
  loader: ({ context: { queries }, deps }) => {
    if (deps.run ?? deps.batch ?? deps.plugin) void queries.prefetchQuery(samplesQuery(deps));
  },
});

const request = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests/$request",
  remountDeps: ({ params }) => params,
  validateSearch: requestSearch,
  component: lazyPage(() => import("./request/RequestPage"), "RequestPage"),
});

export const rewardRoutes = [
  overview,
  runs,
  compare,
  run,
  batches,
  incidents,
  batch,
  samples,
  request,
] as const;
