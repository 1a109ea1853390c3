// Iterations of a run, latest first, with a selection for the arrival chart.

import { Checkbox } from "@mantine/core";
import { useMemo } from "react";
import { Badge, Status } from "../../../parts/Badge";
import { count, moment, percent, reward, span } from "../../../parts/format";
import { Reward } from "../../../parts/Reward";
import { SortedGrid } from "../../../parts/SortedGrid";
import { BatchLink, PageLink } from "../Links";
import { Section } from "../Section";
import type { Iterations } from "./fold";

const CURVES_MAX = 8;

export function IterationTable(props: {
  iterations: Iterations;
  /** Whether the run has earlier batches. */
  earlier: boolean;
  /** Batches in the arrival chart. */
  curves: readonly string[];
  onCurves: (curves: string[]) => void;
}) {
  const { iterations, earlier, curves, onCurves } = props;
  const rows = useMemo(
    () => iterations.batch.map((batch, at) => ({ batch, at })).reverse(),
    [iterations.batch],
  );
  const choose = (batch: string, chosen: boolean) =>
    onCurves(
      chosen ? [...curves, batch].slice(-CURVES_MAX) : curves.filter((other) => other !== batch),
    );
  return (
    <Section
      title="Iterations"
      about={
        earlier ? `The latest ${rows.length}. Open Batches above to see all.` : "Latest first."
      }
    >
      <SortedGrid
        caption="Iterations of the run"
        maxHeight={480}
        columns={[
          {
            title: "Arrivals",
            cell: ({ batch, at }) => (
              <Checkbox
                size="xs"
                aria-label={`Show the arrivals of iteration ${iterations.iteration[at]}`}
                checked={curves.includes(batch)}
                disabled={iterations.ended_at[at] == null}
                onChange={({ currentTarget: { checked } }) => choose(batch, checked)}
              />
            ),
          },
          {
            title: "Iteration",
            number: true,
            opens: true,
            value: ({ at }) => iterations.iteration[at],
            cell: ({ batch, at }) => (
              <BatchLink id={batch}>{count(iterations.iteration[at])}</BatchLink>
            ),
          },
          {
            title: "State",
            value: ({ at }) => iterations.state[at],
            cell: ({ at }) => <Status kind={iterations.state[at] ?? ""} />,
          },
          {
            title: "Requests",
            number: true,
            value: ({ at }) => iterations.counts[at]?.submitted,
            cell: ({ at }) => count(iterations.counts[at]?.submitted),
          },
          {
            title: "Failed",
            number: true,
            value: ({ at }) => iterations.counts[at]?.error,
            cell: ({ at }) => count(iterations.counts[at]?.error),
          },
          {
            title: "Timed out",
            number: true,
            value: ({ at }) => iterations.counts[at]?.timed_out,
            cell: ({ at }) => count(iterations.counts[at]?.timed_out),
          },
          {
            title: "Mean",
            number: true,
            value: ({ at }) => iterations.mean[at],
            cell: ({ at }) => <Reward of={iterations.mean[at]} />,
          },
          {
            title: "Std",
            number: true,
            value: ({ at }) => iterations.std[at],
            cell: ({ at }) => reward(iterations.std[at]),
          },
          {
            title: "Zero variance",
            number: true,
            value: ({ at }) => iterations.zero_variance_share[at],
            cell: ({ at }) => percent(iterations.zero_variance_share[at]),
          },
          {
            title: "All right",
            hint: "Part of the complete groups whose rewards are all equal and above zero",
            number: true,
            value: ({ at }) => iterations.all_right_share[at],
            cell: ({ at }) => (
              <ZeroVariance
                batch={iterations.batch[at]}
                share={iterations.all_right_share[at]}
                rewards="all_right"
              />
            ),
          },
          {
            title: "All wrong",
            hint: "Part of the complete groups whose rewards are all equal, and zero or less",
            number: true,
            value: ({ at }) => wrongOf(iterations, at),
            cell: ({ at }) => (
              <ZeroVariance
                batch={iterations.batch[at]}
                share={wrongOf(iterations, at)}
                rewards="all_wrong"
              />
            ),
          },
          {
            title: "Duration",
            number: true,
            value: ({ at }) => iterations.duration_ms[at],
            cell: ({ at }) => span(iterations.duration_ms[at]),
          },
          {
            title: "Extra delay",
            number: true,
            value: ({ at }) => iterations.extra_delay_ms[at],
            cell: ({ at }) => <Delay of={iterations} at={at} />,
          },
          {
            title: "Announced",
            tight: true,
            value: ({ at }) => iterations.announced_at[at],
            cell: ({ at }) => moment(iterations.announced_at[at]),
          },
        ]}
        rows={rows}
        rowKey={({ batch }) => batch}
      />
    </Section>
  );
}

/** Part of the complete groups that are all wrong. */
function wrongOf(iterations: Iterations, at: number): number | null {
  const [equal, right] = [iterations.zero_variance_share[at], iterations.all_right_share[at]];
  return equal == null || right == null ? null : equal - right;
}

/** A link to the samples of these groups. */
function ZeroVariance(props: {
  batch: string | undefined;
  share: number | null | undefined;
  rewards: "all_right" | "all_wrong";
}) {
  const { batch, share, rewards } = props;
  if (!batch || !share) return percent(share);
  return (
    <PageLink to="/samples" search={{ batch, group_rewards: rewards }} size="sm">
      {percent(share)}
    </PageLink>
  );
}

function Delay({ of, at }: { of: Iterations; at: number }) {
  const delay = of.extra_delay_ms[at];
  const tolerated = of.max_extra_delay_ms[at];
  // A cancelled or expired batch did not run to its end, so it is never late.
  const ran = of.state[at] === "done";
  const late = ran && delay != null && tolerated != null && delay > tolerated;
  return late ? <Badge tone="late">{`${span(delay)}, late`}</Badge> : span(delay);
}
