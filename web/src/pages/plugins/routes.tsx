// Routes of the plugin pages.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { rowsSearch } from "../../parts/rows";
import { present, textOf, wholeOf } from "../../parts/search";
import { type SortSearch, sortSearch } from "../../parts/sortSearch";
import { shellRoute } from "../../shell/routes";
import type { PluginsFilter } from "./queries";

interface VersionSearch {
  /** Period of the statistics, in days; all times when absent. */
  days?: number;
}

const plugins = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins",
  validateSearch: (search: Record<string, unknown>): PluginsFilter & SortSearch =>
    present({
      q: textOf(search, "q"),
      after: textOf(search, "after"),
      ...rowsSearch(search),
      ...sortSearch(search),
    }),
  component: lazyPage(() => import("./Plugins"), "Plugins"),
});

const plugin = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins/$name",
  validateSearch: sortSearch,
  component: lazyPage(() => import("./PluginPage"), "PluginPage"),
});

const version = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins/$name/$version",
  validateSearch: (search: Record<string, unknown>): VersionSearch =>
    present({ days: wholeOf(search, "days") || undefined }),
  component: lazyPage(() => import("./VersionPage"), "VersionPage"),
});

interface VersionCompareSearch {
  /** The version whose recorded requests run again. */
  before?: string;
  /** Number of requests. */
  limit?: number;
}

const versionCompare = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins/$name/$version/compare",
  remountDeps: ({ params }) => params,
  validateSearch: (search: Record<string, unknown>): VersionCompareSearch =>
    present({ before: textOf(search, "before"), limit: wholeOf(search, "limit") || undefined }),
  component: lazyPage(() => import("./compare/VersionCompare"), "VersionCompare"),
});

export const pluginRoutes = [plugins, plugin, version, versionCompare] as const;
