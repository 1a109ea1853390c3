// Administration of any tenant, for who administers the platform.

import { getRouteApi } from "@tanstack/react-router";
import { Only } from "../../parts/Only";
import { Page } from "../../parts/Page";
import { Tabbed } from "./Tabbed";
import { tenantTabs } from "./tenantTabs";

const route = getRouteApi("/shell/admin/tenants/$name");

export function TenantPage() {
  return (
    <Only scope="platform:*" title="Tenant">
      <Tenant />
    </Only>
  );
}

function Tenant() {
  const { name } = route.useParams();
  return (
    <Page title={name} crumbs={[{ label: "Admin", to: "/admin" }]} about="Tenant">
      <Tabbed label={`Administration of ${name}`} tabs={tenantTabs(name, true)} />
    </Page>
  );
}
