// Plugins: all of them, one with its versions, one version.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { present, wholeOf } from "../../parts/search";
import { shellRoute } from "../../shell/routes";

interface VersionSearch {
  /** Over how many days numbers are summed up; all of them when absent. */
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
