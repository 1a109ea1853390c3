// Routes of the platform pages: capacity and workers.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { present, textOf, wholeOf } from "../../parts/search";
import { shellRoute } from "../../shell/routes";

interface CapacitySearch {
  /** Time range of the charts; one hour when absent. */
  minutes?: number;
}

interface WorkersSearch {
  pool?: string;
  state?: string;
}

const capacity = createRoute({
  getParentRoute: () => shellRoute,
  path: "/capacity",
  validateSearch: (search: Record<string, unknown>): CapacitySearch =>
    present({ minutes: wholeOf(search, "minutes") || undefined }),
  component: lazyRouteComponent(() => import("./Capacity"), "Capacity"),
});

const workers = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workers",
  validateSearch: (search: Record<string, unknown>): WorkersSearch =>
    present({ pool: textOf(search, "pool"), state: textOf(search, "state") }),
  component: lazyRouteComponent(() => import("./Workers"), "Workers"),
});

export const platformRoutes = [capacity, workers] as const;
