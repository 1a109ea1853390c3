// Batches that have not ended, the most urgent first.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { Dot, Kind } from "../../../parts/Dot";
import { ago, count, NONE, span } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { useNow } from "../../../parts/now";
import { standing, waitsForRequests } from "../due";
import { BatchLink, PluginLink, RunLink } from "../Links";
import { Section } from "../Section";
import { Share } from "../Share";

type LiveBatch = Schemas["LiveBatch"];

export function LiveBatches(props: { batches: LiveBatch[]; total: number; tenants: boolean }) {
  const { batches, total, tenants } = props;
  const now = useNow();
  const columns: Column<LiveBatch>[] = [
    ...(tenants ? [{ title: "Tenant", cell: (batch: LiveBatch) => batch.tenant }] : []),
    { title: "Run", cell: ({ run }) => (tenants ? run : <RunLink run={run} />) },
    {
      title: "Iteration",
      number: true,
      cell: ({ id, iteration }) => <BatchLink id={id}>{iteration}</BatchLink>,
    },
    {
      title: "Plugin",
      cell: ({ plugin }) => (tenants ? plugin : <PluginLink plugin={plugin} />),
    },
    { title: "State", cell: ({ state }) => <Kind kind={state} /> },
    { title: "Finished", cell: (batch) => <Finished batch={batch} /> },
    { title: "Queued", number: true, cell: ({ queued }) => count(queued) },
    { title: "Running", number: true, cell: ({ running }) => count(running) },
    { title: "To T + D", tight: true, cell: (batch) => <Left batch={batch} now={now} /> },
    {
      title: "Expected end",
      tight: true,
      cell: (batch) => (waitsForRequests(batch) ? NONE : soonOr(batch.estimated_done_at, now)),
    },
  ];
  return (
    <Section
      title="Live batches"
      about={
        batches.length < total
          ? `The ${batches.length} most urgent of ${count(total)}.`
          : "The most urgent first."
      }
    >
      <Grid
        caption="Batches that are live"
        columns={columns}
        rows={batches}
        rowKey={(batch) => batch.id}
        maxHeight={420}
      />
    </Section>
  );
}

/** It was expected before: it may come at any moment. */
function soonOr(at: string | null | undefined, now: number): string {
  return at && Date.parse(at) < now ? "any moment" : ago(at, now);
}

function Finished({ batch }: { batch: LiveBatch }) {
  const { scored, timed_out, error, submitted } = batch.counts;
  const finished = scored + timed_out + error;
  const of = batch.expected_size ?? submitted;
  const failed = error > 0 ? `, ${count(error)} failed` : "";
  return (
    <Share
      label={`Finished requests of ${batch.run} ${batch.iteration}`}
      value={finished}
      of={of}
      text={`${count(finished)} of ${count(of)}${failed}`}
    />
  );
}

function Left({ batch, now }: { batch: LiveBatch; now: number }) {
  const told = standing(batch, now);
  if (!told) return NONE;
  return (
    <>
      {told.late ? <Dot tone="late">{told.words}</Dot> : <Text size="sm">{told.words}</Text>}
      <Text size="xs" c="dimmed">
        {told.note ?? `D ${span(batch.tolerance_ms)}`}
      </Text>
    </>
  );
}
