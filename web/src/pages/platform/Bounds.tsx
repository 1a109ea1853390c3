// Changes the worker limits of a pool.

import { NumberInput, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { limitProblems } from "./limits";
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
  const problems = limitProblems(min, max);
  return (
    <FormDialog
      done={`The limits of ${pool.pool} are changed; they hold from the next plan`}
      label="Change limits"
      describes={pool.pool}
      submit="Save"
      invalid={Object.keys(problems).length > 0}
      act={act}
      onOpen={fill}
    >
      <NumberInput
        label="Min workers"
        description="Workers that are kept even when no batch is live."
        required
        min={0}
        allowDecimal={false}
        data-autofocus
        error={problems.min}
        value={min}
        onChange={setMin}
      />
      <NumberInput
        label="Max workers"
        description="Busy workers above the limit finish their work first."
        required
        min={0}
        allowDecimal={false}
        error={problems.max}
        value={max}
        onChange={setMax}
      />
      <Text size="sm" c="dimmed">
        Changes apply immediately and survive a restart of the server.
      </Text>
    </FormDialog>
  );
}
