// Administration of the tenant one is in; for who administers the platform, of all others too.

import { may, useSession } from "../../api/session";
import { Only } from "../../parts/Only";
import { Page } from "../../parts/Page";
import { Audit } from "./Audit";
import { People } from "./People";
import { Tabbed } from "./Tabbed";
import { Tenants } from "./Tenants";
import { tenantTabs } from "./tenantTabs";

export function Admin() {
  return (
    <Only scope="admin:*" title="Admin">
      <Own />
    </Only>
  );
}

function Own() {
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
        tabs={[...tenantTabs(session.tenant, platform), ...(platform ? everywhere : [])]}
      />
    </Page>
  );
}
