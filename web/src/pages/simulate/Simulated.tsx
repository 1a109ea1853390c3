// What a simulation found, beside what really happened.

import { Alert, Paper, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/client";
import { Dot } from "../../parts/Dot";
import { type Fact, Facts } from "../../parts/Facts";
import { count, span } from "../../parts/format";
import { Go } from "../../parts/Go";
import { Grid } from "../../parts/Grid";
import { StageCurve } from "./StageCurve";
import { totals } from "./totals";

type Simulation = Schemas["Simulation"];
const NUMBER = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

export function Simulated({ result }: { result: Simulation }) {
  return (
    <Stack>
      {result.own_history && (
        <Alert color="yellow" variant="outline" title="Nothing came before this batch">
          The run's first batch was its own history, so that the planner knew more than it could.
        </Alert>
      )}
      <Facts items={facts(result)} />
      <Batches result={result} />
      <Stages result={result} />
      {result.stages.map((stage) => (
        <StageCurve key={stage.stage} stage={stage} />
      ))}
      <Text size="sm" c="dimmed">
        Simulated in {span(result.simulated_in_ms)}. Requests replayed:{" "}
        {count(result.requests_replayed)}; batches, with those that are history:{" "}
        {count(result.batches_replayed)}.
      </Text>
    </Stack>
  );
}

function facts(result: Simulation): Fact[] {
  const { late, lateReally, worst, worstReally, busyReally, workers, cost } = totals(result);
  const of = `of ${result.batches.length}`;
  const [only, ...others] = result.batches;
  const end: Fact[] =
    only && others.length === 0
      ? [{ label: "End", value: span(only.end_ms), note: `really ${span(only.actual_end_ms)}` }]
      : [];
  return [
    ...end,
    {
      label: "Extra delay d, the most",
      value: span(worst),
      note: `really ${span(worstReally)}`,
    },
    { label: "Late", value: `${late} ${of}`, note: `really ${lateReally} ${of}` },
    {
      label: "Workers were there for",
      value: span(workers * 1000),
      note: `really busy for ${span(busyReally * 1000)}`,
    },
    { label: "Cost", value: NUMBER.format(cost) },
    { label: "Policy", value: result.policy, note: `D ${span(result.tolerance_ms)}` },
    ...result.stages.map((stage) => ({
      label: `Workers of ${stage.stage}, peak`,
      value: count(stage.workers_peak),
      note: `${count(stage.starts)} starts on ${stage.pool}`,
    })),
  ];
}

function Batches({ result }: { result: Simulation }) {
  return (
    <Paper withBorder p="md" component="section" aria-label="Batches">
      <Title order={2}>Batches</Title>
      <Text size="sm" c="dimmed" mb="xs">
        Times from a batch's announcement on. No policy changes T, when the last request could end.
      </Text>
      <Grid
        caption="Simulated batches"
        rows={result.batches}
        rowKey={({ id }) => id}
        maxHeight={420}
        columns={[
          {
            title: "Iteration",
            cell: ({ id, iteration }) => (
              <Go to="/batches/$batch" params={{ batch: id }}>
                {iteration}
              </Go>
            ),
          },
          { title: "Requests", number: true, cell: ({ requests }) => count(requests) },
          { title: "T", number: true, cell: (batch) => span(batch.earliest_end_ms) },
          { title: "Simulated end", number: true, cell: ({ end_ms }) => span(end_ms) },
          { title: "Simulated d", number: true, cell: (batch) => span(batch.extra_delay_ms) },
          {
            title: "Simulated",
            cell: ({ late }) => (
              <Dot tone={late ? "late" : "good"}>{late ? "late" : "in time"}</Dot>
            ),
          },
          { title: "Real end", number: true, cell: (batch) => span(batch.actual_end_ms) },
          { title: "Real d", number: true, cell: (batch) => span(batch.actual_extra_delay_ms) },
        ]}
      />
    </Paper>
  );
}

function Stages({ result }: { result: Simulation }) {
  const seconds = (value: number) => span(value * 1000);
  return (
    <Paper withBorder p="md" component="section" aria-label="Stages">
      <Title order={2}>Stages</Title>
      <Text size="sm" c="dimmed" mb="xs">
        Here each stage has workers of its own, even where stages share a pool.
      </Text>
      <Grid
        caption="Workers by stage"
        rows={result.stages}
        rowKey={({ stage }) => stage}
        columns={[
          { title: "Stage", cell: ({ stage }) => stage },
          { title: "Pool", cell: ({ pool }) => pool },
          { title: "Peak", number: true, cell: (stage) => count(stage.workers_peak) },
          { title: "Starts", number: true, cell: ({ starts }) => count(starts) },
          { title: "There", number: true, cell: (stage) => seconds(stage.worker_seconds) },
          { title: "Busy", number: true, cell: (stage) => seconds(stage.busy_seconds) },
          { title: "Starting", number: true, cell: (stage) => seconds(stage.starting_seconds) },
          { title: "Really busy", number: true, cell: (one) => seconds(one.actual_busy_seconds) },
          { title: "Cost", number: true, cell: ({ cost }) => NUMBER.format(cost) },
        ]}
      />
    </Paper>
  );
}
