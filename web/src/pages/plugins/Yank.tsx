// Yanks a version, so that new runs cannot use it.

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
      done={`${name}@${version} is yanked`}
      onOpen={() => setReason("")}
    >
      <Text size="sm">
        New runs cannot use {name}@{version}. Existing runs keep it. This cannot be undone.
      </Text>
      <Textarea
        label="Reason"
        description="Shown to users who are refused this version."
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
