// All routes of the dashboard, which each area of pages declares for itself.

import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { adminRoutes } from "./pages/admin/routes";
import { bookRoutes } from "./pages/book/routes";
import { accountRoutes, entryRoutes } from "./pages/entry/routes";
import { platformRoutes } from "./pages/platform/routes";
import { pluginRoutes } from "./pages/plugins/routes";
import { rewardRoutes } from "./pages/rewards/routes";
import { simulateRoutes } from "./pages/simulate/routes";
import { isPageUnavailable } from "./parts/lazyPage";
import { Failed, Loading } from "./parts/states";
import { inTenantRoute, rootRoute, shellRoute } from "./shell/routes";

const tree = rootRoute.addChildren([
  ...entryRoutes,
  shellRoute.addChildren([
    ...rewardRoutes,
    ...pluginRoutes,
    ...platformRoutes,
    ...adminRoutes,
    ...simulateRoutes,
    ...accountRoutes,
    ...bookRoutes,
    inTenantRoute,
  ]),
]);

const reload = () => window.location.reload();

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    defaultPendingComponent: () => <Loading what="the page" height={320} />,
    defaultErrorComponent: ({ error, reset }) => (
      <Failed thrown={error} retry={isPageUnavailable(error) ? reload : reset} />
    ),
    scrollRestoration: true,
    // Unknown query parameters are removed before a page sees them.
    search: { strict: true },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
