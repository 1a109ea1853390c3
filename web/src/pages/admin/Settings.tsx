// Quotas and grants of a tenant, editable for platform administrators.

import { Paper, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { bytes, count, moment } from "../../parts/format";
import { Answer, Loading } from "../../parts/states";
import { capacityQuery } from "../platform/queries";
import { type Tenant, tenantQuery } from "./queries";
import { SettingsForm } from "./SettingsForm";
import { toolchainsText } from "./settings";
import { useSettings } from "./useSettings";

export function Settings({ tenant, platform }: { tenant: string; platform: boolean }) {
  const settings = useQuery({ ...tenantQuery(tenant), refetchOnMount: "always" });
  // A form is filled once, and not with what was read for another page some time ago.
  if (platform && !settings.isFetchedAfterMount)
    return <Loading what="the settings" height={320} />;
  return (
    <Answer query={settings} what="the settings" height={320}>
      {(answer) =>
        platform ? <EditableSettings tenant={answer} /> : <ReadOnlySettings tenant={answer} />
      }
    </Answer>
  );
}

function EditableSettings({ tenant }: { tenant: Tenant }) {
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
            ? `${tenant.name} is read-only since ${moment(tenant.suspended_at)}.`
            : "A suspended tenant is read-only: it cannot submit batches, rewards or plugins."}
        </Text>
        <ConfirmButton
          label={suspended ? "Resume" : "Suspend"}
          danger={!suspended}
          act={() => saving.mutateAsync({ suspended: !suspended })}
          done={`${tenant.name} is ${suspended ? "resumed" : "suspended"}`}
        >
          <Text size="sm">
            {suspended
              ? `${tenant.name} can submit again immediately.`
              : `New batches, rewards and plugins of ${tenant.name} are refused from now on. ` +
                "Work that was already accepted runs to its end."}
          </Text>
        </ConfirmButton>
      </Stack>
    </Paper>
  );
}

function ReadOnlySettings({ tenant }: { tenant: Tenant }) {
  const { settings } = tenant;
  const free = "platform limit";
  const rows: [string, string][] = [
    ["Display name", settings?.display_name || "–"],
    ["Weight", count(settings?.weight)],
    ["Workers shared between runs", settings?.share_runs ? "yes" : "no"],
    ["Max open batches", settings?.quotas.open_batches_max?.toString() ?? free],
    ["Max requests per minute", settings?.quotas.requests_per_minute_max?.toString() ?? free],
    [
      "Max stored data",
      settings?.quotas.stored_bytes_max == null ? free : bytes(settings.quotas.stored_bytes_max),
    ],
    ...Object.entries(settings?.quotas.workers_max ?? {}).map(([pool, max]): [string, string] => [
      `Max workers in ${pool}`,
      count(max),
    ]),
    ["GPUs", settings?.grants.gpu ? "granted" : "not granted"],
    ["Toolchains", toolchainsText(settings?.grants.toolchains)],
    ["Allowed hosts", settings?.grants.hosts?.join(", ") || "none granted"],
    ["Storage roots", tenant.storage_roots?.join(", ") || "none granted"],
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
        Only platform administrators can change these settings.
      </Text>
    </Stack>
  );
}
