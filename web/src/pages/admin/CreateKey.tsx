// Creates a key and shows its secret once.

import { Checkbox, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import type { Scope } from "../../api/session";
import { FormDialog } from "../../parts/FormDialog";
import { useFields } from "../../parts/fields";
import { expiry, namesIn, SCOPES } from "./keys";
import { OneTimeSecret } from "./OneTimeSecret";
import { changed, type Key } from "./queries";

const FRESH = {
  name: "",
  scopes: ["batches:write", "batches:read"] as Scope[],
  days: 90,
  plugins: "",
};
const PATHS = { name: "name", plugins: "plugins", scopes: "scopes" };

function validate({ name, scopes }: typeof FRESH) {
  return {
    ...(name.trim() ? {} : { name: "Enter a name." }),
    ...(scopes.length > 0 ? {} : { scopes: "Choose at least one." }),
  };
}

const DAYS = [
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in 1 year" },
  { value: "0", label: "never" },
];

type NewKey = Schemas["CreatePersonalKey"];

export function CreateKey(props: {
  /** Scopes to choose from. */
  offered: readonly Scope[];
  make: (call: NewKey) => Promise<Key>;
}) {
  const { offered, make } = props;
  const queries = useQueryClient();
  const fresh = { ...FRESH, scopes: FRESH.scopes.filter((scope) => offered.includes(scope)) };
  const { form, fields } = useFields(fresh, PATHS, validate);
  const act = async () => {
    const { name, scopes, days, plugins } = form.values;
    const expires_at = expiry(days, Date.now());
    const key = await make({ name, scopes, expires_at, plugins: namesIn(plugins) });
    void changed(queries, "keys");
    return key;
  };
  const toggle = (scope: Scope, on: boolean) => {
    const others = form.values.scopes.filter((one) => one !== scope);
    form.setFieldValue("scopes", on ? [...others, scope] : others);
  };
  return (
    <FormDialog
      label="Create a key"
      submit="Create"
      variant="filled"
      act={act}
      fields={fields}
      onOpen={form.reset}
      answer={(key) => (
        <OneTimeSecret
          title={`New key: ${key.name}`}
          text={key.secret ?? ""}
          about="Copy it now; you cannot see it again. Keep it in a secret store and set it as ASSAY_API_KEY."
        />
      )}
    >
      <TextInput
        label="Name"
        description="The person or program that uses the key."
        required
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Checkbox.Group label="Scopes" value={form.values.scopes} error={form.errors.scopes}>
        <Stack gap={6} pt={4}>
          {SCOPES.filter(({ scope }) => offered.includes(scope)).map((one) => (
            <Checkbox
              key={one.scope}
              value={one.scope}
              label={`${one.scope}: ${one.may}`}
              onChange={(event) => toggle(one.scope, event.currentTarget.checked)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <NativeSelect
        label="Expires"
        value={String(form.values.days)}
        data={DAYS}
        onChange={(event) => form.setFieldValue("days", Number(event.currentTarget.value))}
      />
      <TextInput
        label="Plugins"
        description="Allowed plugins, as name or name@channel. Empty: all plugins."
        placeholder="math@prod, code"
        {...form.getInputProps("plugins")}
      />
    </FormDialog>
  );
}
