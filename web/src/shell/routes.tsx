// The root route and the shell route, which requires a session.

import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../api/session";
import { lazyPage } from "../parts/lazyPage";
import { backTo } from "./back";
import { NotFound } from "./NotFound";

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

/** Redirects users without a session to the sign-in page, which returns to the current URL. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  // The sign-in page works without the code of the shell, which loads beside that of the first page.
  component: lazyPage(() => import("./Shell"), "Shell"),
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: "/sign-in", search: { back: backTo(location) } });
  },
});

/** A page of a tenant that the link names. */
export const inTenantRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/in/$tenant/$",
  // The parameters of that page.
  validateSearch: (search: Record<string, unknown>) => search,
  component: lazyPage(() => import("./InTenant"), "InTenant"),
});
