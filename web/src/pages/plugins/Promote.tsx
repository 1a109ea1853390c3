// Points a channel at a version.

import { Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, data } from "../../api/client";
import { may, useSession } from "../../api/session";
import { FormDialog } from "../../parts/FormDialog";
import { TextLink } from "../../parts/TextLink";
import { type Plugin, pluginsChanged } from "./queries";

export function Promote({ plugin, channels }: { plugin: Plugin; channels: string[] }) {
  const { name, version } = plugin;
  const queries = useQueryClient();
  const session = useSession();
  const known = useId();
  const [channel, setChannel] = useState("prod");
  const act = async () => {
    const params = { path: { name, channel } };
    await data(api.PUT("/v1/plugins/{name}/channels/{channel}", { params, body: { version } }));
    await pluginsChanged(queries);
  };
  return (
    <FormDialog
      label="Promote"
      describes={`${name}@${version}`}
      act={act}
      done={`${channel} is ${version} of ${name} now`}
      onOpen={() => setChannel("prod")}
    >
      <TextInput
        label="Channel"
        description="An existing channel or a new one."
        required
        data-autofocus
        autoComplete="off"
        list={known}
        value={channel}
        onChange={(event) => setChannel(event.currentTarget.value)}
      />
      <datalist id={known}>
        {[...new Set(["prod", ...channels])].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Text size="sm">
        New runs that use {name}@{channel || "…"} get version {version}. Existing runs keep their
        version.
      </Text>
      {may(session, "batches:write") && (
        <TextLink to="/plugins/$name/$version/compare" params={{ name, version }}>
          Compare it with another version over recorded requests
        </TextLink>
      )}
    </FormDialog>
  );
}
