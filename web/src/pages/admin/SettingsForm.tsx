// The form for the quotas, weight and grants of a tenant.

import {
  Checkbox,
  NativeSelect,
  NumberInput,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Tenant } from "./queries";
import { Save } from "./Save";
import { type Field, formOf, patchOf } from "./settings";
import { useSettings } from "./useSettings";

export function SettingsForm({ tenant, pools }: { tenant: Tenant; pools: string[] }) {
  const [form, setForm] = useState(() => tenant.settings && formOf(tenant.settings, pools));
  const saving = useSettings(tenant.name);
  if (!form) return null;
  const set = (change: Partial<typeof form>) => {
    saving.reset();
    setForm({ ...form, ...change });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(patchOf(form));
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Settings">
      <Stack>
        <Title order={2}>Quotas, weight and grants</Title>
        <Text size="sm" c="dimmed">
          Empty: platform limit. Changes apply immediately to new batches.
        </Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label="Display name"
            value={form.displayName}
            onChange={(event) => set({ displayName: event.currentTarget.value })}
          />
          <Amount label="Weight" value={form.weight} min={1} set={(weight) => set({ weight })} />
          <Amount
            label="Max open batches"
            value={form.openBatches}
            set={(openBatches) => set({ openBatches })}
          />
          <Amount
            label="Max requests per minute"
            value={form.requestsPerMinute}
            set={(requestsPerMinute) => set({ requestsPerMinute })}
          />
          <Amount
            label="Max stored data (GB)"
            value={form.storedGigabytes}
            decimals
            set={(storedGigabytes) => set({ storedGigabytes })}
          />
          {Object.entries(form.workers).map(([pool, max]) => (
            <Amount
              key={pool}
              label={`Max workers in ${pool}`}
              value={max}
              set={(workers) => set({ workers: { ...form.workers, [pool]: workers } })}
            />
          ))}
          <NativeSelect
            label="Toolchains"
            value={form.toolchains}
            data={[
              { value: "all", label: "all" },
              { value: "named", label: "only these" },
            ]}
            onChange={(event) =>
              set({ toolchains: event.currentTarget.value === "all" ? "all" : "named" })
            }
          />
          {form.toolchains === "named" && (
            <TextInput
              label="Allowed toolchains"
              description="Empty: none."
              placeholder="python, cpp17-gcc"
              value={form.named}
              onChange={(event) => set({ named: event.currentTarget.value })}
            />
          )}
        </SimpleGrid>
        <TextInput
          label="Hosts that plugins may call"
          description="Empty: none. HTTPS by default. Prefix http:// for plain HTTP, private: for private addresses."
          placeholder="api.example.com, *.example.com, private:http://10.0.0.5:8000"
          value={form.hosts}
          onChange={(event) => set({ hosts: event.currentTarget.value })}
        />
        <Checkbox
          label="Share workers between runs"
          description="The run with the fewest workers is served first. Otherwise the earliest batch is."
          checked={form.shareRuns}
          onChange={(event) => set({ shareRuns: event.currentTarget.checked })}
        />
        <Checkbox
          label="Plugins may use GPUs"
          checked={form.gpu}
          onChange={(event) => set({ gpu: event.currentTarget.checked })}
        />
        <Save saving={saving} />
      </Stack>
    </Paper>
  );
}

export function Amount(props: {
  label: string;
  value: Field;
  min?: number;
  decimals?: boolean;
  description?: string;
  set: (value: Field) => void;
}) {
  const { label, value, min = 0, decimals = false, description, set } = props;
  return (
    <NumberInput
      label={label}
      value={value}
      min={min}
      allowNegative={false}
      allowDecimal={decimals}
      thousandSeparator=","
      {...(description ? { description } : {})}
      onChange={set}
    />
  );
}
