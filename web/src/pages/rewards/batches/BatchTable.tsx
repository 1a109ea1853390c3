// Table of batches: results and lateness.

import type { Schemas } from "../../../api/client";
import { Dot, Status } from "../../../parts/Dot";
import { count, moment, percent, reward, span } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { BatchLink, PluginLink, RunLink } from "../Links";

type Summary = Schemas["BatchSummary"];

export function BatchTable({
  caption = "Batches",
  batches,
}: {
  caption?: string;
  batches: Summary[];
}) {
  return (
    <Grid
      caption={caption}
      columns={[
        { title: "Run", cell: ({ batch }) => <RunLink run={batch.run} /> },
        {
          title: "Iteration",
          number: true,
          cell: ({ batch }) => <BatchLink id={batch.id}>{count(batch.iteration)}</BatchLink>,
        },
        { title: "Plugin", cell: ({ batch }) => <PluginLink plugin={batch.plugin} /> },
        { title: "State", cell: ({ batch }) => <Status kind={batch.state} /> },
        { title: "Requests", number: true, cell: requests },
        { title: "Timed out", number: true, cell: ({ batch }) => count(batch.counts.timed_out) },
        { title: "Failed", number: true, cell: ({ batch }) => count(batch.counts.error) },
        { title: "Mean reward", number: true, cell: ({ batch }) => reward(batch.mean_reward) },
        { title: "Zero variance", number: true, cell: zeroVariance },
        { title: "Extra delay", number: true, cell: (summary) => <Delay of={summary} /> },
        { title: "Announced", tight: true, cell: ({ batch }) => moment(batch.announced_at) },
      ]}
      rows={batches}
      rowKey={({ batch }) => batch.id}
    />
  );
}

function requests({ batch: { counts, expected_size } }: Summary): string {
  const finished = counts.scored + counts.timed_out + counts.error;
  const of = expected_size ?? counts.submitted;
  return finished === of ? count(of) : `${count(finished)} of ${count(of)}`;
}

function zeroVariance({ rollup }: Summary): string {
  if (!rollup?.complete_groups) return percent(null);
  return percent(rollup.zero_variance_groups / rollup.complete_groups);
}

function Delay({ of: { batch, late } }: { of: Summary }) {
  const text = span(batch.extra_delay_ms);
  return late ? <Dot tone="late">{`${text}, late`}</Dot> : text;
}
