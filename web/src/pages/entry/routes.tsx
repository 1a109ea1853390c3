// Routes of the sign-in, invitation and password pages.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { isLocal } from "../../shell/back";
import { rootRoute, shellRoute } from "../../shell/routes";

interface SignInSearch {
  /** Path to open after sign-in. */
  back?: string;
  /** Code of a refusal by the OpenID provider. */
  problem?: string;
}

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...(isLocal(search.back) ? { back: search.back } : {}),
    ...(typeof search.problem === "string" ? { problem: search.problem } : {}),
  }),
  component: lazyPage(() => import("./SignIn"), "SignIn"),
});

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invitation",
  component: lazyPage(() => import("./Invitation"), "Invitation"),
});

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyPage(() => import("./Password"), "Password"),
});

export const entryRoutes = [signIn, invitation] as const;
export const accountRoutes = [account] as const;
