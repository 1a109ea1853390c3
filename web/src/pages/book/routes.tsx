// Routes of the documentation.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { shellRoute } from "../../shell/routes";

const book = createRoute({
  getParentRoute: () => shellRoute,
  path: "/book",
  component: lazyPage(() => import("./Book"), "Book"),
});

const page = createRoute({
  getParentRoute: () => shellRoute,
  path: "/book/$",
  component: lazyPage(() => import("./Book"), "Book"),
});

export const bookRoutes = [book, page] as const;
