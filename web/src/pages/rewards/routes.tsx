// Routes of the reward pages: overview, runs, batches and requests.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/routes";
import {
  batchesSearch,
  batchSearch,
  overviewSearch,
  requestSearch,
  runSearch,
  runsSearch,
} from "./searches";

const overview = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import("./overview/Overview"), "Overview"),
});

const runs = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs",
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import("./runs/Runs"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs/$run",
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import("./runs/Run"), "Run"),
});

const batches = createRoute({
  getParentRoute: () => shellRoute,
  path: "/batches",
  validateSearch: batchesSearch,
  component: lazyRouteComponent(() => import("./batches/Batches"), "Batches"),
});

const batch = createRoute({
  getParentRoute: () => shellRoute,
  path: "/batches/$batch",
  validateSearch: batchSearch,
  component: lazyRouteComponent(() => import("./batch/BatchPage"), "BatchPage"),
});

const request = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests/$request",
  validateSearch: requestSearch,
  component: lazyRouteComponent(() => import("./request/RequestPage"), "RequestPage"),
});

export const rewardRoutes = [overview, runs, run, batches, batch, request] as const;
