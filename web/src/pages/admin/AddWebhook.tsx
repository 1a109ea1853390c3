// Adds a webhook and shows the key of its signatures once.

import { Checkbox, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { useFields } from "../../parts/fields";
import { KIND_NAMES, KINDS } from "../../parts/incidents";
import { OneTimeSecret } from "./OneTimeSecret";
import { changed } from "./queries";
import { FORMS } from "./webhooks";

const FRESH = {
  name: "",
  url: "",
  form: "json" as Schemas["WebhookForm"],
  kinds: [] as Schemas["IncidentKind"][],
  platform: false,
};
const PATHS = { name: "name", url: "url" };

function validate({ name, url }: typeof FRESH) {
  return {
    ...(name.trim() ? {} : { name: "Enter a name." }),
    ...(url.trim() ? {} : { url: "Enter an address." }),
  };
}

/** `platform`: whether the user may have it told of the platform's incidents. */
export function AddWebhook({ platform }: { platform: boolean }) {
  const queries = useQueryClient();
  const { form, fields } = useFields(FRESH, PATHS, validate);
  const act = async () => {
    const body = { ...form.values, url: form.values.url.trim() };
    const webhook = await data(api.POST("/v1/webhooks", { body }));
    void changed(queries, "webhooks");
    return webhook;
  };
  return (
    <FormDialog
      label="Add a webhook"
      submit="Add"
      variant="filled"
      act={act}
      fields={fields}
      onOpen={form.reset}
      answer={(webhook) => (
        <OneTimeSecret
          title={`Key of the signatures of ${webhook.name}`}
          text={webhook.secret ?? ""}
          about="Copy it now; you cannot see it again. A service of yours checks with it that a message comes from here. A chat needs none."
        />
      )}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
      <TextInput
        label="Address"
        description="Messages are posted there. Its host must be granted to the tenant."
        placeholder="https://hooks.example.com/services/..."
        required
        {...form.getInputProps("url")}
      />
      <NativeSelect
        label="Form"
        data={FORMS}
        value={form.values.form}
        onChange={({ currentTarget: { value } }) =>
          form.setFieldValue("form", value === "slack" ? "slack" : "json")
        }
      />
      <Checkbox.Group
        label="Incidents"
        description="None chosen: all of them."
        value={form.values.kinds}
      >
        <Stack gap={6} pt={4}>
          {KIND_NAMES.map((kind) => (
            <Checkbox
              key={kind}
              value={kind}
              label={KINDS[kind].label}
              onChange={({ currentTarget: { checked } }) => {
                const others = form.values.kinds.filter((one) => one !== kind);
                form.setFieldValue("kinds", checked ? [...others, kind] : others);
              }}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {platform && (
        <Checkbox
          label="The platform's incidents too"
          {...form.getInputProps("platform", { type: "checkbox" })}
        />
      )}
    </FormDialog>
  );
}
