// Keeps new runs off a version.

import { Text, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { type Plugin, pluginsChanged } from "./queries";

export function Yank({ plugin: { name, version } }: { plugin: Plugin }) {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const act = async () => {
    const params = { path: { name, version } };
    const body = { reason };
    await data(api.POST("/v1/plugins/{name}/versions/{version}/yank", { params, body }));
    await pluginsChanged(queries);
  };
  return (
    <FormDialog
      label="Yank"
      describes={`${name}@${version}`}
      act={act}
      onOpen={() => setReason("")}
    >
      <Text size="sm">
        No new run may use {name}@{version}; runs that use it keep it. This cannot be taken back.
      </Text>
      <Textarea
        label="Reason"
        description="Who is refused is told it."
        required
        data-autofocus
        autosize
        minRows={2}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
