// Creates a key and shows its secret once.

import { Checkbox, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { may, type Scope, useSession } from "../../api/session";
import { FormDialog } from "../../parts/FormDialog";
import { expiry, namesIn, SCOPES } from "./keys";
import { OneTimeSecret } from "./OneTimeSecret";
import { changed } from "./queries";

const FRESH = {
  name: "",
  scopes: ["batches:write", "batches:read"] as Scope[],
  days: 90,
  plugins: "",
};
const DAYS = [
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in 1 year" },
  { value: "0", label: "never" },
];

export function CreateKey({ tenant, platform }: { tenant: string; platform: boolean }) {
  const queries = useQueryClient();
  const session = useSession();
  const [form, setForm] = useState(FRESH);
  const act = async () => {
    const { name, scopes, days, plugins } = form;
    const expires_at = expiry(days, Date.now());
    const body = { tenant, name, scopes, expires_at, plugins: namesIn(plugins) };
    const key = await data(api.POST("/v1/keys", { body }));
    await changed(queries, "keys");
    return key;
  };
  const toggle = (scope: Scope, on: boolean) => {
    const others = form.scopes.filter((one) => one !== scope);
    setForm({ ...form, scopes: on ? [...others, scope] : others });
  };
  const offered = SCOPES.filter(({ scope }) =>
    scope === "platform:*" ? platform && may(session, scope) : true,
  );
  return (
    <FormDialog
      label="Create a key"
      submit="Create"
      variant="filled"
      act={act}
      onOpen={() => setForm(FRESH)}
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
        value={form.name}
        onChange={(event) => setForm({ ...form, name: event.currentTarget.value })}
      />
      <Checkbox.Group label="Scopes" value={form.scopes}>
        <Stack gap={6} pt={4}>
          {offered.map((one) => (
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
        value={String(form.days)}
        data={DAYS}
        onChange={(event) => setForm({ ...form, days: Number(event.currentTarget.value) })}
      />
      <TextInput
        label="Plugins"
        description="Allowed plugins, as name or name@channel. Empty: all plugins."
        placeholder="math@prod, code"
        value={form.plugins}
        onChange={(event) => setForm({ ...form, plugins: event.currentTarget.value })}
      />
    </FormDialog>
  );
}
