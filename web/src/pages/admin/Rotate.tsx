// Replaces the secret of a key. The old secret works for a while, so that no program is cut off.

import { NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { OneTimeSecret } from "./OneTimeSecret";
import { changed, type Key } from "./queries";

const HOURS = [
  { value: "0", label: "stops working now" },
  { value: "1", label: "works for 1 more hour" },
  { value: "24", label: "works for 1 more day" },
  { value: "168", label: "works for 1 more week" },
  { value: "720", label: "works for 30 more days" },
];

export function Rotate({ tenant, of }: { tenant: string; of: Key }) {
  const queries = useQueryClient();
  const [hours, setHours] = useState(24);
  const act = async () => {
    const params = { path: { id: of.id }, query: { tenant } };
    const body = { overlap_hours: hours };
    const key = await data(api.POST("/v1/keys/{id}/rotate", { params, body }));
    void changed(queries, "keys");
    return key;
  };
  return (
    <FormDialog
      label="Rotate"
      describes={of.name || of.prefix}
      act={act}
      onOpen={() => setHours(24)}
      answer={(key) => (
        <OneTimeSecret
          title="New secret"
          text={key.secret ?? ""}
          about="Copy it now; you cannot see it again. Use it wherever the old secret is used."
        />
      )}
    >
      <NativeSelect
        label="Old secret"
        value={String(hours)}
        data={HOURS}
        onChange={(event) => setHours(Number(event.currentTarget.value))}
      />
    </FormDialog>
  );
}
