// Routes of the platform pages: capacity and workers.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { present, textOf, wholeOf } from "../../parts/search";
import { type SortSearch, sortSearch } from "../../parts/sortSearch";
import { shellRoute } from "../../shell/routes";

interface CapacitySearch {
  /** Time range of the charts; one hour when absent. */
  minutes?: number;
}

interface WorkersSearch extends SortSearch {
  pool?: string;
  state?: string;
}

const capacity = createRoute({
  getParentRoute: () => shellRoute,
  path: "/capacity",
  validateSearch: (search: Record<string, unknown>): CapacitySearch =>
    present({ minutes: wholeOf(search, "minutes") || undefined }),
  component: lazyPage(() => import("./Capacity"), "Capacity"),
});

const workers = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workers",
  validateSearch: (search: Record<string, unknown>): WorkersSearch =>
    present({
      pool: textOf(search, "pool"),
      state: textOf(search, "state"),
      ...sortSearch(search),
    }),
  component: lazyPage(() => import("./Workers"), "Workers"),
});

export const platformRoutes = [capacity, workers] as const;
