// Points a channel back to its previous version.

import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { pluginsChanged } from "./queries";

interface Props {
  name: string;
  channel: Schemas["PluginChannel"];
}

export function RollBack({ name, channel: current }: Props) {
  const queries = useQueryClient();
  const { channel } = current;
  // The step that the dialog described when it was opened. A second press is no second step.
  const [{ version, rolls_back_to }, setAsked] = useState(current);
  const act = async () => {
    try {
      const params = { path: { name, channel } };
      const call = { params, body: { from: version } };
      return await data(api.POST("/v1/plugins/{name}/channels/{channel}/rollback", call));
    } finally {
      // A call without an answer may have rolled back all the same.
      void pluginsChanged(queries);
    }
  };
  const none = `${channel} has no earlier version that is not yanked.`;
  return (
    <FormDialog
      label={`Roll back ${channel}`}
      describes={name}
      {...(current.rolls_back_to == null ? { unavailable: none } : {})}
      onOpen={() => setAsked(current)}
      act={act}
      done={(plugin) => `${channel} is ${plugin.version} of ${name} again`}
    >
      <Text size="sm">
        {channel}: {version} → {rolls_back_to}. New runs that use {name}@{channel} get version{" "}
        {rolls_back_to}. Existing runs keep their version.
      </Text>
    </FormDialog>
  );
}
