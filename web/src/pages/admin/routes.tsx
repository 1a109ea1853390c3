// Routes of the administration pages.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/routes";
import { adminSearch } from "./tabs";

const admin = createRoute({
  getParentRoute: () => shellRoute,
  path: "/admin",
  validateSearch: adminSearch,
  component: lazyRouteComponent(() => import("./Admin"), "Admin"),
});

const tenant = createRoute({
  getParentRoute: () => shellRoute,
  path: "/admin/tenants/$name",
  validateSearch: adminSearch,
  component: lazyRouteComponent(() => import("./TenantPage"), "TenantPage"),
});

export const adminRoutes = [admin, tenant] as const;
