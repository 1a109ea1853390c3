// Shows a page only to users with a scope. Others see a message, and no data is loaded.

import { Button, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { may, type Scope, tenantWith, useSession, useSwitchTenant } from "../api/session";
import { Page } from "./Page";
import { Empty, Failed } from "./states";

const WHO: Partial<Record<Scope, string>> = {
  "platform:*": "platform administrators",
  "admin:*": "tenant administrators",
};

export function RequireScope(props: { scope: Scope; title: string; children: ReactNode }) {
  const { scope, title, children } = props;
  const session = useSession();
  if (may(session, scope)) return children;
  const other = tenantWith(session, scope);
  return (
    <Page title={title}>
      <Empty title={`This page is for ${WHO[scope] ?? `users with the scope ${scope}`}`}>
        {other ? (
          <SwitchTo tenant={other} current={session.tenant} />
        ) : (
          `The current tenant is ${session.tenant}. If you have this right in another tenant, ` +
          "switch tenant at the top left. Otherwise, ask an administrator."
        )}
      </Empty>
    </Page>
  );
}

function SwitchTo({ tenant, current }: { tenant: string; current: string }) {
  const switching = useSwitchTenant();
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        The current tenant is {current}. You have this right in the tenant {tenant}.
      </Text>
      <Button size="xs" loading={switching.isPending} onClick={() => switching.mutate(tenant)}>
        Switch to {tenant}
      </Button>
      {switching.isError && <Failed thrown={switching.error} />}
    </Stack>
  );
}
