// The pages of who is not in yet, and of who wants another password.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute, shellRoute } from "../../shell/routes";

interface SignInSearch {
  /** Where to go after. */
  back?: string;
  /** The code of why signing in by the provider was refused. */
  problem?: string;
}

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...(local(search.back) ? { back: search.back as string } : {}),
    ...(typeof search.problem === "string" ? { problem: search.problem } : {}),
  }),
  component: lazyRouteComponent(() => import("./SignIn"), "SignIn"),
});

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invitation",
  component: lazyRouteComponent(() => import("./Invitation"), "Invitation"),
});

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./Password"), "Password"),
});

/** A path of this dashboard, never another site's address. */
function local(back: unknown): boolean {
  return typeof back === "string" && /^\/(?![/\\])/.test(back);
}

export const entryRoutes = [signIn, invitation] as const;
export const accountRoutes = [account] as const;
