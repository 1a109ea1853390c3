// Points a channel back to its previous version.

import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { pluginsChanged } from "./queries";

interface Props {
  name: string;
  channel: string;
  /** The version that the channel points to now. */
  version: string;
}

export function RollBack({ name, channel, version }: Props) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { path: { name, channel } };
    await data(api.POST("/v1/plugins/{name}/channels/{channel}/rollback", { params }));
    await pluginsChanged(queries);
  };
  return (
    <FormDialog label={`Roll back ${channel}`} describes={name} act={act}>
      <Text size="sm">
        {name}@{channel} points to {version} now. It goes back to the version before that, skipping
        yanked ones. New runs get that version; existing runs keep theirs.
      </Text>
    </FormDialog>
  );
}
