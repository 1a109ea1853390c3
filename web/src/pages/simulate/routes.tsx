// Route of the simulation page.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/routes";
import { simulateSearch } from "./form";

const simulate = createRoute({
  getParentRoute: () => shellRoute,
  path: "/simulate",
  validateSearch: simulateSearch,
  component: lazyRouteComponent(() => import("./Simulate"), "Simulate"),
});

export const simulateRoutes = [simulate] as const;
