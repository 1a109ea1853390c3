// Routes of the plugin pages.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { present, wholeOf } from "../../parts/search";
import { shellRoute } from "../../shell/routes";

interface VersionSearch {
  /** Period of the statistics, in days; all times when absent. */
  days?: number;
}

const plugins = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins",
  component: lazyRouteComponent(() => import("./Plugins"), "Plugins"),
});

const plugin = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins/$name",
  component: lazyRouteComponent(() => import("./PluginPage"), "PluginPage"),
});

const version = createRoute({
  getParentRoute: () => shellRoute,
  path: "/plugins/$name/$version",
  validateSearch: (search: Record<string, unknown>): VersionSearch =>
    present({ days: wholeOf(search, "days") || undefined }),
  component: lazyRouteComponent(() => import("./VersionPage"), "VersionPage"),
});

export const pluginRoutes = [plugins, plugin, version] as const;
