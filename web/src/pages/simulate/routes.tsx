// Route of the simulation page.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { shellRoute } from "../../shell/routes";
import { simulateSearch } from "./form";

const simulate = createRoute({
  getParentRoute: () => shellRoute,
  path: "/simulate",
  validateSearch: simulateSearch,
  component: lazyPage(() => import("./Simulate"), "Simulate"),
});

export const simulateRoutes = [simulate] as const;
