// For how long a tenant's things are kept.

import { Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Answer } from "../../parts/states";
import { type Tenant, tenantQuery } from "./queries";
import { Save } from "./Save";
import { Amount } from "./SettingsForm";
import { bound, type Field } from "./settings";
import { useSettings } from "./useSettings";

const RESULTS = "Requests, artifacts, results and logs, from the end of their batch on";
const HISTORY = "The times and totals of completed batches";

export function Retention({ tenant, platform }: { tenant: string; platform: boolean }) {
  const settings = useQuery(tenantQuery(tenant));
  return (
    <Answer query={settings} what="the retention">
      {(answer) =>
        platform ? <Change key={answer.name} tenant={answer} /> : <Shown tenant={answer} />
      }
    </Answer>
  );
}

function Shown({ tenant }: { tenant: Tenant }) {
  const kept = (days: number | null | undefined) =>
    days == null ? "as long as the platform keeps it" : `${days} days`;
  return (
    <Stack gap="xs">
      <Text size="sm">
        {RESULTS}: <b>{kept(tenant.settings?.retention.results_days)}</b>
      </Text>
      <Text size="sm">
        {HISTORY}: <b>{kept(tenant.settings?.retention.history_days)}</b>
      </Text>
      <Text size="sm" c="dimmed">
        Administrators of the platform change it.
      </Text>
    </Stack>
  );
}

function Change({ tenant }: { tenant: Tenant }) {
  const kept = tenant.settings?.retention;
  const [results, setResults] = useState<Field>(kept?.results_days ?? "");
  const [history, setHistory] = useState<Field>(kept?.history_days ?? "");
  const saving = useSettings(tenant.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const retention = { results_days: bound(results), history_days: bound(history) };
    saving.mutate({ retention });
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Retention">
      <Stack>
        <Title order={2}>Days that things are kept</Title>
        <Text size="sm" c="dimmed">
          A field that is empty: as long as the platform keeps them. What is past its days is
          deleted soon after, and cannot be had back.
        </Text>
        <Amount label="Results" description={RESULTS} value={results} min={1} set={setResults} />
        <Amount label="History" description={HISTORY} value={history} min={1} set={setHistory} />
        <Save saving={saving} />
      </Stack>
    </Paper>
  );
}
