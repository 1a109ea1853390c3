// Points a channel back to its previous version.

import { Button, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { pluginsChanged } from "./queries";

interface Props {
  name: string;
  channel: Schemas["PluginChannel"];
}

export function RollBack({ name, channel: { channel, version, rolls_back_to } }: Props) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { path: { name, channel } };
    await data(api.POST("/v1/plugins/{name}/channels/{channel}/rollback", { params }));
    await pluginsChanged(queries);
  };
  if (rolls_back_to == null) {
    return (
      <Button
        size="xs"
        variant="default"
        aria-disabled
        data-disabled
        title={`${channel} has no earlier version that is not yanked.`}
        onClick={(event) => event.preventDefault()}
      >
        Roll back {channel}
      </Button>
    );
  }
  return (
    <FormDialog
      label={`Roll back ${channel}`}
      describes={name}
      act={act}
      done={`${channel} is ${rolls_back_to} of ${name} again`}
    >
      <Text size="sm">
        {channel}: {version} → {rolls_back_to}. New runs that use {name}@{channel} get version{" "}
        {rolls_back_to}. Existing runs keep their version.
      </Text>
    </FormDialog>
  );
}
