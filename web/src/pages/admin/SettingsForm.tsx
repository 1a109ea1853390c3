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
import { type FormEvent, type ReactNode, useState } from "react";
import { useFields } from "../../parts/fields";
import type { Tenant, TenantSettings } from "./queries";
import { Save } from "./Save";
import { type Field, formOf, patchOf, SETTING_PATHS } from "./settings";
import { useSettings } from "./useSettings";

export function SettingsForm({ tenant, pools }: { tenant: Tenant; pools: string[] }) {
  const { settings } = tenant;
  return settings ? <Form name={tenant.name} settings={settings} pools={pools} /> : null;
}

function Form(props: { name: string; settings: TenantSettings; pools: string[] }) {
  const { name, settings, pools } = props;
  const saving = useSettings(name);
  const [saved, setSaved] = useState(() => formOf(settings, pools));
  const { form, fields } = useFields({ ...saved }, SETTING_PATHS);
  const [atField, setAtField] = useState(false);
  // A change makes what was said of the saved values untrue.
  const field = (path: string) => {
    const { onChange, ...input } = form.getInputProps(path);
    const change = (value: unknown) => {
      saving.reset();
      onChange(value);
    };
    return { ...input, onChange: change };
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { values } = form;
    const done = () => {
      setSaved(values);
      form.clearErrors();
    };
    saving
      .mutateAsync(patchOf(saved, values))
      .then(done, (thrown) => setAtField(fields.refuse(thrown)));
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Settings">
      <Stack>
        <Title order={2}>Quotas, weight and grants</Title>
        <Text size="sm" c="dimmed">
          Empty: platform limit. Changes apply immediately to new batches.
        </Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label="Display name" {...field("displayName")} />
          <Amount label="Weight" min={1} {...field("weight")} />
          <Amount label="Max open batches" {...field("openBatches")} />
          <Amount label="Max requests per minute" {...field("requestsPerMinute")} />
          <Amount label="Max stored data (GB)" decimals {...field("storedGigabytes")} />
          {Object.keys(form.values.workers).map((pool) => (
            <Amount key={pool} label={`Max workers in ${pool}`} {...field(`workers.${pool}`)} />
          ))}
          <NativeSelect
            label="Toolchains"
            data={[
              { value: "all", label: "all" },
              { value: "named", label: "only these" },
            ]}
            {...field("toolchains")}
          />
          {form.values.toolchains === "named" && (
            <TextInput
              label="Allowed toolchains"
              description="Empty: none."
              placeholder="python, cpp17-gcc"
              {...field("named")}
            />
          )}
        </SimpleGrid>
        <TextInput
          label="Hosts that plugins may call"
          description="Empty: none. HTTPS by default. Prefix http:// for plain HTTP, private: for private addresses."
          placeholder="api.example.com, *.example.com, private:http://10.0.0.5:8000"
          {...field("hosts")}
        />
        <Checkbox
          label="Share workers between runs"
          description="The run with the fewest workers is served first. Otherwise the earliest batch is."
          checked={form.values.shareRuns}
          onChange={field("shareRuns").onChange}
        />
        <Checkbox
          label="Plugins may use GPUs"
          checked={form.values.gpu}
          onChange={field("gpu").onChange}
        />
        <Save saving={saving} atField={atField} />
      </Stack>
    </Paper>
  );
}

export function Amount(props: {
  label: string;
  value?: Field;
  min?: number;
  decimals?: boolean;
  description?: string;
  error?: ReactNode;
  onChange?: (value: Field) => void;
}) {
  const { min = 0, decimals = false, ...input } = props;
  return (
    <NumberInput
      {...input}
      min={min}
      allowNegative={false}
      allowDecimal={decimals}
      thousandSeparator=","
    />
  );
}
