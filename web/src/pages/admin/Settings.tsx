// What bounds a tenant and what is granted to it; administrators of the platform change it.

import { Paper, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Ask } from "../../parts/Ask";
import { bytes, count, moment } from "../../parts/format";
import { Answer } from "../../parts/states";
import { capacityQuery } from "../platform/queries";
import { type Tenant, tenantQuery } from "./queries";
import { SettingsForm } from "./SettingsForm";
import { useSettings } from "./useSettings";

export function Settings({ tenant, platform }: { tenant: string; platform: boolean }) {
  const settings = useQuery(tenantQuery(tenant));
  return (
    <Answer query={settings} what="the settings" height={320}>
      {(answer) => (platform ? <Change tenant={answer} /> : <Shown tenant={answer} />)}
    </Answer>
  );
}

function Change({ tenant }: { tenant: Tenant }) {
  const pools = useQuery(capacityQuery);
  return (
    <Stack>
      <Answer query={pools} what="the pools" height={320}>
        {(capacity) => (
          <SettingsForm
            key={tenant.name}
            tenant={tenant}
            pools={capacity.pools.map(({ pool }) => pool)}
          />
        )}
      </Answer>
      <Suspension tenant={tenant} />
    </Stack>
  );
}

function Suspension({ tenant }: { tenant: Tenant }) {
  const saving = useSettings(tenant.name);
  const suspended = tenant.suspended_at != null;
  return (
    <Paper withBorder p="md" maw={640} component="section" aria-label="Suspension">
      <Stack align="flex-start" gap="xs">
        <Title order={2}>{suspended ? "Suspended" : "Suspend"}</Title>
        <Text size="sm">
          {suspended
            ? `${tenant.name} admits nothing since ${moment(tenant.suspended_at)}.`
            : "Who is suspended submits no batch, no reward and no plugin; all can be read."}
        </Text>
        <Ask
          label={suspended ? "Admit again" : "Suspend"}
          danger={!suspended}
          act={() => saving.mutateAsync({ suspended: !suspended })}
        >
          <Text size="sm">
            {suspended
              ? `${tenant.name} may submit again from now on.`
              : `New batches, rewards and plugins of ${tenant.name} are refused from now on. ` +
                "What was admitted goes on to its end."}
          </Text>
        </Ask>
      </Stack>
    </Paper>
  );
}

function Shown({ tenant }: { tenant: Tenant }) {
  const { settings } = tenant;
  const free = "no bound but the platform's own";
  const rows: [string, string][] = [
    ["Name for people", settings?.display_name || "–"],
    ["Weight", count(settings?.weight)],
    ["Open batches", settings?.quotas.open_batches_max?.toString() ?? free],
    ["Requests a minute", settings?.quotas.requests_per_minute_max?.toString() ?? free],
    [
      "Stored",
      settings?.quotas.stored_bytes_max == null ? free : bytes(settings.quotas.stored_bytes_max),
    ],
    ...Object.entries(settings?.quotas.workers_max ?? {}).map(([pool, max]): [string, string] => [
      `Workers of ${pool}`,
      count(max),
    ]),
    ["GPUs", settings?.grants.gpu ? "granted" : "not granted"],
    ["Toolchains", settings?.grants.toolchains?.join(", ") || "all"],
    ["Hosts", settings?.grants.hosts?.join(", ") || "none granted"],
    ["Storage", tenant.storage_roots?.join(", ") || "none granted"],
    ["Suspended", tenant.suspended_at ? `since ${moment(tenant.suspended_at)}` : "no"],
  ];
  return (
    <Stack>
      <Table variant="vertical" maw={640} aria-label={`Settings of ${tenant.name}`}>
        <Table.Tbody>
          {rows.map(([what, value]) => (
            <Table.Tr key={what}>
              <Table.Th scope="row" w={200}>
                {what}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed">
        Administrators of the platform change these; ask them for more.
      </Text>
    </Stack>
  );
}
