// Retention of a tenant's data.

import { Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useFields } from "../../parts/fields";
import { Answer, Loading } from "../../parts/states";
import { type Tenant, tenantQuery } from "./queries";
import { Save } from "./Save";
import { Amount } from "./SettingsForm";
import { bound, changesOf, type Field } from "./settings";
import { useSettings } from "./useSettings";

const RESULTS = "Requests, artifacts, results and logs, counted from the end of their batch";
const HISTORY = "Times and totals of completed batches";

interface Days extends Record<string, Field> {
  results: Field;
  history: Field;
}

const PATHS = {
  "retention.results_days": "results",
  "retention.history_days": "history",
};

const membersOf = ({ results, history }: Days) => ({
  retention: { results_days: bound(results), history_days: bound(history) },
});

export function Retention({ tenant, platform }: { tenant: string; platform: boolean }) {
  const settings = useQuery({ ...tenantQuery(tenant), refetchOnMount: "always" });
  // A form is filled once, and not with what was read for another page some time ago.
  if (platform && !settings.isFetchedAfterMount) return <Loading what="the retention" />;
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
  const [saved, setSaved] = useState<Days>({
    results: current?.results_days ?? "",
    history: current?.history_days ?? "",
  });
  const { form, fields } = useFields<Days>({ ...saved }, PATHS);
  const [atField, setAtField] = useState(false);
  const saving = useSettings(tenant.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { values } = form;
    const done = () => {
      setSaved(values);
      form.clearErrors();
    };
    saving
      .mutateAsync(changesOf(membersOf(saved), membersOf(values)))
      .then(done, (thrown) => setAtField(fields.refuse(thrown)));
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Retention">
      <Stack>
        <Title order={2}>Retention in days</Title>
        <Text size="sm" c="dimmed">
          Empty: platform default. Older data is deleted soon after and cannot be recovered.
        </Text>
        <Amount label="Results" description={RESULTS} min={1} {...form.getInputProps("results")} />
        <Amount label="History" description={HISTORY} min={1} {...form.getInputProps("history")} />
        <Save saving={saving} atField={atField} />
      </Stack>
    </Paper>
  );
}
