// Changes how few and how many workers a pool may have.

import { NumberInput, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import type { Pool } from "./queries";

export function Bounds({ pool }: { pool: Pool }) {
  const queries = useQueryClient();
  const [min, setMin] = useState<number | string>(pool.min);
  const [max, setMax] = useState<number | string>(pool.max);
  const act = async () => {
    const params = { path: { pool: pool.pool } };
    const body = { min: Number(min), max: Number(max) };
    await data(api.PUT("/v1/capacity/{pool}", { params, body }));
    await queries.invalidateQueries({ queryKey: ["capacity"] });
  };
  const fill = () => {
    setMin(pool.min);
    setMax(pool.max);
  };
  return (
    <FormDialog label="Change bounds" describes={pool.pool} submit="Save" act={act} onOpen={fill}>
      <NumberInput
        label="At least"
        description="Workers that are there even when nothing is live."
        required
        min={0}
        allowDecimal={false}
        data-autofocus
        value={min}
        onChange={setMin}
      />
      <NumberInput
        label="At most"
        description="Busy workers above it finish what they do."
        required
        min={0}
        allowDecimal={false}
        value={max}
        onChange={setMax}
      />
      <Text size="sm" c="dimmed">
        It holds from now on, over restarts, too.
      </Text>
    </FormDialog>
  );
}
