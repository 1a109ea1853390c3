// The tabs of one tenant, on its own page and on the administration page.

import { Audit } from "./Audit";
import { Keys } from "./Keys";
import { Members } from "./Members";
import { Retention } from "./Retention";
import { Settings } from "./Settings";
import type { Tab } from "./Tabbed";
import { Usage } from "./Usage";

/** `platform`: whether the user is a platform administrator and may change settings. */
export function tenantTabs(tenant: string, platform: boolean): [Tab, ...Tab[]] {
  return [
    { value: "usage", label: "Usage and quotas", show: () => <Usage tenant={tenant} /> },
    { value: "members", label: "Members", show: () => <Members tenant={tenant} /> },
    { value: "keys", label: "Keys", show: () => <Keys tenant={tenant} platform={platform} /> },
    { value: "audit", label: "Audit", show: () => <Audit tenant={tenant} /> },
    {
      value: "retention",
      label: "Retention",
      show: () => <Retention tenant={tenant} platform={platform} />,
    },
    {
      value: "settings",
      label: "Settings",
      show: () => <Settings tenant={tenant} platform={platform} />,
    },
  ];
}
