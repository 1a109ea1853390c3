// Retention of a tenant's data.

import { Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Answer } from "../../parts/states";
import { type Tenant, tenantQuery } from "./queries";
import { Save } from "./Save";
import { Amount } from "./SettingsForm";
import { bound, type Field } from "./settings";
import { useSettings } from "./useSettings";

const RESULTS = "Requests, artifacts, results and logs, counted from the end of their batch";
const HISTORY = "Times and totals of completed batches";

export function Retention({ tenant, platform }: { tenant: string; platform: boolean }) {
  const settings = useQuery(tenantQuery(tenant));
  return (
    <Answer query={settings} what="the retention">
      {(answer) =>
        platform ? (
          <EditableRetention key={answer.name} tenant={answer} />
        ) : (
          <ReadOnlyRetention tenant={answer} />
        )
      }
    </Answer>
  );
}

function ReadOnlyRetention({ tenant }: { tenant: Tenant }) {
  const daysText = (days: number | null | undefined) =>
    days == null ? "platform default" : `${days} days`;
  return (
    <Stack gap="xs">
      <Text size="sm">
        {RESULTS}: <b>{daysText(tenant.settings?.retention.results_days)}</b>
      </Text>
      <Text size="sm">
        {HISTORY}: <b>{daysText(tenant.settings?.retention.history_days)}</b>
      </Text>
      <Text size="sm" c="dimmed">
        Only platform administrators can change this.
      </Text>
    </Stack>
  );
}

function EditableRetention({ tenant }: { tenant: Tenant }) {
  const current = tenant.settings?.retention;
  const [results, setResults] = useState<Field>(current?.results_days ?? "");
  const [history, setHistory] = useState<Field>(current?.history_days ?? "");
  const saving = useSettings(tenant.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const retention = { results_days: bound(results), history_days: bound(history) };
    saving.mutate({ retention });
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Retention">
      <Stack>
        <Title order={2}>Retention in days</Title>
        <Text size="sm" c="dimmed">
          Empty: platform default. Older data is deleted soon after and cannot be recovered.
        </Text>
        <Amount label="Results" description={RESULTS} value={results} min={1} set={setResults} />
        <Amount label="History" description={HISTORY} value={history} min={1} set={setHistory} />
        <Save saving={saving} />
      </Stack>
    </Paper>
  );
}
