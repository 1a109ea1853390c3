// Points a channel back at the version that it had before.

import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { pluginsChanged } from "./queries";

export function RollBack({ name, channel }: { name: string; channel: string }) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { path: { name, channel } };
    await data(api.POST("/v1/plugins/{name}/channels/{channel}/rollback", { params }));
    await pluginsChanged(queries);
  };
  return (
    <FormDialog label={`Roll back ${channel}`} describes={name} act={act}>
      <Text size="sm">
        New runs that name {name}@{channel} use the version it had before, the last that is not
        yanked. Runs under way keep the version they began with.
      </Text>
    </FormDialog>
  );
}
