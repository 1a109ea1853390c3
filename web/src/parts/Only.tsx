// A page for who may something; others are told so, and nothing is asked of the server.

import type { ReactNode } from "react";
import { may, type Scope, useSession } from "../api/session";
import { Page } from "./Page";
import { Empty } from "./states";

const WHO: Partial<Record<Scope, string>> = {
  "platform:*": "administrators of the platform",
  "admin:*": "administrators of the tenant",
};

export function Only(props: { scope: Scope; title: string; children: ReactNode }) {
  const { scope, title, children } = props;
  const session = useSession();
  if (may(session, scope)) return children;
  return (
    <Page title={title}>
      <Empty title={`This page is for ${WHO[scope] ?? `who may ${scope}`}`}>
        You are in the tenant {session.tenant} now. If another of your tenants has that right, look
        at it by the button at the top; else ask an administrator.
      </Empty>
    </Page>
  );
}
