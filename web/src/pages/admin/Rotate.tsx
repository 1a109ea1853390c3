// Gives a key another secret; the old one works on for a while, so that nobody is cut off.

import { NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { Once } from "./Once";
import { changed, type Key } from "./queries";

const HOURS = [
  { value: "0", label: "ends at once" },
  { value: "1", label: "works for an hour more" },
  { value: "24", label: "works for a day more" },
  { value: "168", label: "works for a week more" },
  { value: "720", label: "works for 30 days more" },
];

export function Rotate({ tenant, of }: { tenant: string; of: Key }) {
  const queries = useQueryClient();
  const [hours, setHours] = useState(24);
  const act = async () => {
    const params = { path: { id: of.id }, query: { tenant } };
    const body = { overlap_hours: hours };
    const key = await data(api.POST("/v1/keys/{id}/rotate", { params, body }));
    await changed(queries, "keys");
    return key;
  };
  return (
    <FormDialog
      label="Rotate"
      describes={of.name || of.prefix}
      act={act}
      onOpen={() => setHours(24)}
      answer={(key) => (
        <Once
          title="The new secret"
          text={key.secret ?? ""}
          about="It is shown this once and kept nowhere. Put it where the old one is used."
        />
      )}
    >
      <NativeSelect
        label="The old secret"
        value={String(hours)}
        data={HOURS}
        onChange={(event) => setHours(Number(event.currentTarget.value))}
      />
    </FormDialog>
  );
}
