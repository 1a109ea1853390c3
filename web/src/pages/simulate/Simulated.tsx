// The results of a simulation next to the actual values.

import { Alert, Paper, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/client";
import { Badge } from "../../parts/Badge";
import { type Fact, Facts } from "../../parts/Facts";
import { cost, count, span } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { TextLink } from "../../parts/TextLink";
import { StageCurve } from "./StageCurve";
import { totals } from "./totals";

type Simulation = Schemas["Simulation"];

export function Simulated({ result }: { result: Simulation }) {
  return (
    <Stack>
      {result.own_history && (
        <Alert color="yellow" variant="outline" title="No earlier batch">
          The result is optimistic because the planner saw this batch's own timings.
        </Alert>
      )}
      <Facts items={facts(result)} />
      <Batches result={result} />
      <Stages result={result} />
      {result.stages.map((stage) => (
        <StageCurve key={stage.stage} stage={stage} />
      ))}
      <Text size="sm" c="dimmed">
        Simulated in {span(result.simulated_in_ms)}: {count(result.requests_replayed)} requests,{" "}
        {count(result.batches_replayed)} batches including earlier ones used as history.
      </Text>
    </Stack>
  );
}

function facts(result: Simulation): Fact[] {
  const { late, lateReally, worst, worstReally, busyReally, workers, ...sums } = totals(result);
  const of = `of ${result.batches.length}`;
  const [only, ...others] = result.batches;
  const end: Fact[] =
    only && others.length === 0
      ? [
          {
            label: "End",
            tile: true,
            value: span(only.end_ms),
            note: `actual ${span(only.actual_end_ms)}`,
          },
        ]
      : [];
  return [
    ...end,
    {
      label: "Max extra delay",
      tile: true,
      value: span(worst),
      note: `actual ${span(worstReally)}`,
    },
    {
      label: "Late batches",
      tile: true,
      value: `${late} ${of}`,
      note: `actual ${lateReally} ${of}`,
    },
    {
      label: "Worker time (simulated)",
      tile: true,
      value: span(workers * 1000),
      note: `busy time (actual) ${span(busyReally * 1000)}`,
    },
    { label: "Cost", value: cost(sums.cost) },
    { label: "Policy", value: result.policy, note: `delay tolerance ${span(result.tolerance_ms)}` },
    ...result.stages.map((stage) => ({
      label: `Peak workers for ${stage.stage}`,
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
        Times are measured from the announcement. The ideal end is the same for every policy.
      </Text>
      <Grid
        caption="Simulated batches"
        rows={result.batches}
        rowKey={({ id }) => id}
        maxHeight={420}
        columns={[
          {
            title: "Iteration",
            opens: true,
            cell: ({ id, iteration }) => (
              <TextLink to="/batches/$batch" params={{ batch: id }}>
                {iteration}
              </TextLink>
            ),
          },
          { title: "Requests", number: true, cell: ({ requests }) => count(requests) },
          {
            title: "Ideal end",
            hint: "T: the end if no request had waited for a worker",
            number: true,
            cell: (batch) => span(batch.earliest_end_ms),
          },
          { title: "Simulated end", number: true, cell: ({ end_ms }) => span(end_ms) },
          { title: "Simulated delay", number: true, cell: (batch) => span(batch.extra_delay_ms) },
          {
            title: "Simulated result",
            cell: ({ late }) => (
              <Badge tone={late ? "late" : "good"}>{late ? "late" : "on time"}</Badge>
            ),
          },
          { title: "Actual end", number: true, cell: (batch) => span(batch.actual_end_ms) },
          {
            title: "Actual delay",
            number: true,
            cell: (batch) => span(batch.actual_extra_delay_ms),
          },
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
        The simulation gives each stage its own workers, even if stages share a pool.
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
          { title: "Worker time", number: true, cell: (stage) => seconds(stage.worker_seconds) },
          { title: "Busy", number: true, cell: (stage) => seconds(stage.busy_seconds) },
          { title: "Starting", number: true, cell: (stage) => seconds(stage.starting_seconds) },
          { title: "Actual busy", number: true, cell: (one) => seconds(one.actual_busy_seconds) },
          { title: "Cost", number: true, cell: (stage) => cost(stage.cost) },
        ]}
      />
    </Paper>
  );
}
