// The simulation form: a batch or a run, a policy, worker limits and a delay tolerance.

import { Button, Group, NativeSelect, NumberInput, Paper, SimpleGrid, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Choice } from "../../parts/Choice";
import { Command } from "../../parts/Command";
import { useFields } from "../../parts/fields";
import { present } from "../../parts/search";
import { Empty, Failed } from "../../parts/states";
import { chosenOf, useBatches, useRuns, useStages } from "./choices";
import {
  type Field,
  PATHS,
  POLICIES,
  type SimulateSearch,
  workerProblems,
  workersOf,
  workersText,
} from "./form";

interface Values extends Record<string, unknown> {
  policy: string;
  tolerance: Field;
  /** Max workers by pool. */
  workers: Record<string, Field>;
}

export function Settings(props: {
  search: SimulateSearch;
  /** `refuse` shows a refusal at its field; false if it concerns none. */
  start: (search: SimulateSearch, refuse: (thrown: unknown) => boolean) => void;
  busy: boolean;
}) {
  const { search, start, busy } = props;
  const [what, setWhat] = useState(search.run && !search.batch ? "run" : "batch");
  const [batch, setBatch] = useState(search.batch);
  const [run, setRun] = useState(search.run);
  const batches = useBatches(search.batch);
  const runs = useRuns(search.run);
  const of = what === "batch" ? batches : runs;
  const chosen =
    what === "batch"
      ? (batch ?? chosenOf(search, batches.choices))
      : (run ?? runs.choices[0]?.value ?? "");
  const stages = useStages(of.choices.find(({ value }) => value === chosen)?.plugin);
  const pools = [...new Set(stages.map(({ pool }) => pool))];
  const { form, fields } = useFields<Values>(
    {
      policy: search.policy ?? "assay",
      tolerance: search.tolerance ?? "",
      workers: workersOf(search.workers ?? ""),
    },
    PATHS,
    ({ workers }) => workerProblems(workers),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!fields.validate()) return;
    const { policy, tolerance, workers } = form.values;
    start(
      present({
        batch: what === "batch" ? chosen : undefined,
        run: what === "run" ? chosen : undefined,
        policy: policy === "assay" ? undefined : policy,
        tolerance: tolerance === "" ? undefined : Number(tolerance),
        workers: workersText(workers),
      }),
      fields.refuse,
    );
  };
  if (of.listed.isError && of.choices.length === 0) {
    return <Failed thrown={of.listed.error} retry={() => void of.listed.refetch()} />;
  }
  if (of.listed.isSuccess && of.choices.length === 0) {
    return (
      <Empty title="No completed batches yet">
        Score a file first:
        <Command text="assay score FILE.jsonl --plugin math@prod" />
      </Empty>
    );
  }
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Simulation settings">
      <Stack>
        <Group align="end">
          <NativeSelect
            label="Simulate"
            value={what}
            data={[
              { value: "batch", label: "one batch" },
              { value: "run", label: "the last batches of a run" },
            ]}
            onChange={(event) => setWhat(event.currentTarget.value)}
          />
          <Choice
            label={what === "batch" ? "Batch" : "Run"}
            style={{ flex: "1 1 320px" }}
            value={chosen}
            data={of.choices.map(({ value, label }) => ({ value, label }))}
            onChange={what === "batch" ? setBatch : setRun}
          />
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} style={{ alignItems: "end" }}>
          <NativeSelect
            label="Policy"
            description="Decides how many workers each pool has."
            data={POLICIES}
            {...form.getInputProps("policy")}
          />
          <NumberInput
            label="Delay tolerance (ms)"
            description={
              what === "batch"
                ? "Empty: tolerance of the batch."
                : "Empty: default tolerance of the server."
            }
            min={0}
            allowDecimal={false}
            thousandSeparator=","
            {...form.getInputProps("tolerance")}
          />
          {pools.map((pool) => (
            <NumberInput
              key={pool}
              label={`Max workers in ${pool}`}
              description="Per stage. Empty: current limit, or the batch's peak if that is 0."
              min={0}
              allowDecimal={false}
              {...form.getInputProps(`workers.${pool}`)}
              value={form.values.workers[pool] ?? ""}
            />
          ))}
        </SimpleGrid>
        <div>
          <Button type="submit" loading={busy} disabled={chosen === ""}>
            Simulate
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}
