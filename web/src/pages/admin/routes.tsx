// Routes of the administration pages.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../parts/lazyPage";
import { shellRoute } from "../../shell/routes";
import { adminSearch } from "./tabs";

const admin = createRoute({
  getParentRoute: () => shellRoute,
  path: "/admin",
  validateSearch: adminSearch,
  component: lazyPage(() => import("./Admin"), "Admin"),
});

const tenant = createRoute({
  getParentRoute: () => shellRoute,
  path: "/admin/tenants/$name",
  validateSearch: adminSearch,
  component: lazyPage(() => import("./TenantPage"), "TenantPage"),
});

const personalKeys = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account/keys",
  validateSearch: adminSearch,
  component: lazyPage(() => import("./PersonalKeys"), "PersonalKeys"),
});

export const adminRoutes = [admin, tenant, personalKeys] as const;
