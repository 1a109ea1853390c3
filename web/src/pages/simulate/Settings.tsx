// The simulation form: a batch or a run, a policy, worker limits and a delay tolerance.

import { Button, Group, NativeSelect, NumberInput, Paper, SimpleGrid, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Command } from "../../parts/Command";
import { present } from "../../parts/search";
import { Empty, Failed } from "../../parts/states";
import { chosenOf, useBatches, usePools, useRuns } from "./choices";
import { POLICIES, type SimulateSearch, workersOf, workersText } from "./form";

type Field = number | string;

export function Settings(props: {
  search: SimulateSearch;
  start: (search: SimulateSearch) => void;
  busy: boolean;
}) {
  const { search, start, busy } = props;
  const [what, setWhat] = useState(search.run && !search.batch ? "run" : "batch");
  const [batch, setBatch] = useState(search.batch);
  const [run, setRun] = useState(search.run);
  const [policy, setPolicy] = useState(search.policy ?? "assay");
  const [tolerance, setTolerance] = useState<Field>(search.tolerance ?? "");
  const [workers, setWorkers] = useState<Record<string, Field>>(workersOf(search.workers ?? ""));
  const batches = useBatches(search.batch);
  const runs = useRuns(search.run);
  const of = what === "batch" ? batches : runs;
  const chosen =
    what === "batch"
      ? (batch ?? chosenOf(search, batches.choices))
      : (run ?? runs.choices[0]?.value ?? "");
  const pools = usePools(of.choices.find(({ value }) => value === chosen)?.plugin);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start(
      present({
        batch: what === "batch" ? chosen : undefined,
        run: what === "run" ? chosen : undefined,
        policy: policy === "assay" ? undefined : policy,
        tolerance: tolerance === "" ? undefined : Number(tolerance),
        workers: workersText(workers),
      }),
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
          <NativeSelect
            label={what === "batch" ? "Batch" : "Run"}
            style={{ flex: "1 1 320px" }}
            value={chosen}
            data={of.choices.map(({ value, label }) => ({ value, label }))}
            onChange={(event) => (what === "batch" ? setBatch : setRun)(event.currentTarget.value)}
          />
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} style={{ alignItems: "end" }}>
          <NativeSelect
            label="Policy"
            value={policy}
            data={POLICIES}
            onChange={(event) => setPolicy(event.currentTarget.value)}
          />
          <NumberInput
            label="Delay tolerance (ms)"
            description="Empty: tolerance of each batch."
            min={0}
            allowDecimal={false}
            thousandSeparator=","
            value={tolerance}
            onChange={setTolerance}
          />
          {pools.map((pool) => (
            <NumberInput
              key={pool}
              label={`Max workers in ${pool}`}
              description="Per stage. Empty: current limit, or the batch's peak if that is 0."
              min={0}
              allowDecimal={false}
              value={workers[pool] ?? ""}
              onChange={(most) => setWorkers({ ...workers, [pool]: most })}
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
