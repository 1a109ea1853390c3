// Administration of any tenant, for platform administrators.

import { getRouteApi } from "@tanstack/react-router";
import { Page } from "../../parts/Page";
import { RequireScope } from "../../parts/RequireScope";
import { Tabbed } from "./Tabbed";
import { tenantTabs } from "./tenantTabs";

const route = getRouteApi("/shell/admin/tenants/$name");

export function TenantPage() {
  return (
    <RequireScope scope="platform:*" title="Tenant">
      <Tenant />
    </RequireScope>
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
