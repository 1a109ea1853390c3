// Shows a page only to users with a scope. Others see a message, and no data is loaded.

import type { ReactNode } from "react";
import { may, type Scope, useSession } from "../api/session";
import { Page } from "./Page";
import { Empty } from "./states";

const WHO: Partial<Record<Scope, string>> = {
  "platform:*": "platform administrators",
  "admin:*": "tenant administrators",
};

export function RequireScope(props: { scope: Scope; title: string; children: ReactNode }) {
  const { scope, title, children } = props;
  const session = useSession();
  if (may(session, scope)) return children;
  return (
    <Page title={title}>
      <Empty title={`This page is for ${WHO[scope] ?? `users with the scope ${scope}`}`}>
        The current tenant is {session.tenant}. If you have this right in another tenant, switch
        tenant at the top right. Otherwise, ask an administrator.
      </Empty>
    </Page>
  );
}
