// The two frames that pages stand in: the empty one of signing in, and the shell.

import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../api/session";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

/** Who is not signed in is sent to sign in, and comes back to where they were. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  component: Shell,
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: "/sign-in", search: { back: location.href } });
  },
});
