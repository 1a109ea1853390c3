// Administration of the current tenant and, for platform administrators, of all tenants.

import { may, useSession } from "../../api/session";
import { Page } from "../../parts/Page";
import { RequireScope } from "../../parts/RequireScope";
import { Audit } from "./Audit";
import { People } from "./People";
import { Tabbed } from "./Tabbed";
import { Tenants } from "./Tenants";
import { tenantTabs } from "./tenantTabs";
import { Webhooks } from "./Webhooks";

export function Admin() {
  return (
    <RequireScope scope="admin:*" title="Admin">
      <AdminTabs />
    </RequireScope>
  );
}

function AdminTabs() {
  const session = useSession();
  const platform = may(session, "platform:*");
  const everywhere = [
    { value: "tenants", label: "Tenants", show: () => <Tenants /> },
    { value: "people", label: "People", show: () => <People /> },
    { value: "platform-audit", label: "Platform audit", show: () => <Audit /> },
  ];
  return (
    <Page title="Admin" about={`Tenant ${session.tenant}`}>
      <Tabbed
        label="Administration"
        tabs={[
          ...tenantTabs(session.tenant, platform),
          { value: "webhooks", label: "Webhooks", show: () => <Webhooks platform={platform} /> },
          ...(platform ? everywhere : []),
        ]}
      />
    </Page>
  );
}
