// Table of batches: results and lateness.

import type { Schemas } from "../../../api/client";
import { Badge, Status } from "../../../parts/Badge";
import { count, moment, percent, span } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { Reward } from "../../../parts/Reward";
import { SortedGrid } from "../../../parts/SortedGrid";
import { BatchLink, PluginLink, RunLink } from "../Links";

type Summary = Schemas["BatchSummary"];

const COLUMNS: Column<Summary>[] = [
  {
    title: "Run",
    value: ({ batch }) => batch.run,
    cell: ({ batch }) => <RunLink run={batch.run} />,
  },
  {
    title: "Iteration",
    number: true,
    opens: true,
    value: ({ batch }) => batch.iteration,
    cell: ({ batch }) => <BatchLink id={batch.id}>{count(batch.iteration)}</BatchLink>,
  },
  {
    title: "Plugin",
    value: ({ batch }) => batch.plugin,
    cell: ({ batch }) => <PluginLink plugin={batch.plugin} />,
  },
  {
    title: "State",
    value: ({ batch }) => batch.state,
    cell: ({ batch }) => <Status kind={batch.state} />,
  },
  { title: "Requests", number: true, value: expected, cell: requests },
  {
    title: "Timed out",
    number: true,
    value: ({ batch }) => batch.counts.timed_out,
    cell: ({ batch }) => count(batch.counts.timed_out),
  },
  {
    title: "Failed",
    number: true,
    value: ({ batch }) => batch.counts.error,
    cell: ({ batch }) => count(batch.counts.error),
  },
  {
    title: "Mean reward",
    number: true,
    value: ({ batch }) => batch.mean_reward,
    cell: ({ batch }) => <Reward of={batch.mean_reward} />,
  },
  {
    title: "Zero variance",
    number: true,
    value: zeroVariance,
    cell: (summary) => percent(zeroVariance(summary)),
  },
  {
    title: "Extra delay",
    number: true,
    value: ({ batch }) => batch.extra_delay_ms,
    cell: (summary) => <Delay of={summary} />,
  },
  {
    title: "Announced",
    tight: true,
    value: ({ batch }) => batch.announced_at,
    cell: ({ batch }) => moment(batch.announced_at),
  },
];

const keyOf = ({ batch }: Summary) => batch.id;

export function BatchTable({ caption, batches }: { caption: string; batches: Summary[] }) {
  return <Grid caption={caption} columns={COLUMNS} rows={batches} rowKey={keyOf} />;
}

/** `more`: whether the list has batches that are not loaded. */
export function SortedBatchTable({ batches, more }: { batches: Summary[]; more: boolean }) {
  return (
    <SortedGrid caption="Batches" columns={COLUMNS} rows={batches} rowKey={keyOf} more={more} />
  );
}

function expected({ batch: { counts, expected_size } }: Summary): number {
  return expected_size ?? counts.submitted;
}

function requests(summary: Summary): string {
  const { counts } = summary.batch;
  const finished = counts.scored + counts.timed_out + counts.error;
  const of = expected(summary);
  return finished === of ? count(of) : `${count(finished)} of ${count(of)}`;
}

/** Share of the complete groups, if there are any. */
function zeroVariance({ rollup }: Summary): number | null {
  return rollup?.complete_groups ? rollup.zero_variance_groups / rollup.complete_groups : null;
}

function Delay({ of: { batch, late } }: { of: Summary }) {
  const text = span(batch.extra_delay_ms);
  return late ? <Badge tone="late">{`${text}, late`}</Badge> : text;
}
