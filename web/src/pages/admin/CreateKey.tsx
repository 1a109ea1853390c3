// Makes a key; its secret is shown this once.

import { Checkbox, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { may, type Scope, useSession } from "../../api/session";
import { FormDialog } from "../../parts/FormDialog";
import { expiry, listed, SCOPES } from "./keys";
import { Once } from "./Once";
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
  { value: "365", label: "in a year" },
  { value: "0", label: "never" },
];

export function CreateKey({ tenant, platform }: { tenant: string; platform: boolean }) {
  const queries = useQueryClient();
  const session = useSession();
  const [form, setForm] = useState(FRESH);
  const act = async () => {
    const { name, scopes, days, plugins } = form;
    const expires_at = expiry(days, Date.now());
    const body = { tenant, name, scopes, expires_at, plugins: listed(plugins) };
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
        <Once
          title={`The key ${key.name}`}
          text={key.secret ?? ""}
          about="It is shown this once and kept nowhere. Set it as ASSAY_API_KEY, in a secret store."
        />
      )}
    >
      <TextInput
        label="Name"
        description="Who or what uses it."
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
        description="Names or name@channel that its batches may use; all when empty."
        placeholder="math@prod, code"
        value={form.plugins}
        onChange={(event) => setForm({ ...form, plugins: event.currentTarget.value })}
      />
    </FormDialog>
  );
}
