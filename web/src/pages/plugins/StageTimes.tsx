// Histogram of the run times of a stage, in bins of growing width, with its timeout.

import { Bars } from "../../parts/Bars";
import { Figure } from "../../parts/Figure";
import { count, span } from "../../parts/format";
import { positionOf, visibleBins } from "./bins";
import type { StageHistogram } from "./queries";

export function StageTimes({ stage }: { stage: StageHistogram }) {
  const { edges_ms: edges, counts, timeout_ms: timeout } = stage;
  const bins = visibleBins(edges, counts, timeout);
  const start = (at: number) => span(edges[at - 1] ?? 0);
  const range = (at: number) => `${start(at)} to ${span(edges[at])}`;
  const rows = () =>
    counts.flatMap((requests, at): (string | number)[][] =>
      requests > 0 ? [[range(at), requests]] : [],
    );
  return (
    <Figure
      title={`Stage ${stage.stage}`}
      about={
        `Run times on ${stage.pool}: ${count(stage.requests)} requests, ` +
        `${count(stage.retries)} retries.`
      }
      table={() => ({ columns: ["Run time", "Requests"], rows: rows() })}
    >
      <Bars
        label={`Run times of stage ${stage.stage}, with its timeout`}
        values={bins.counts}
        tick={(at) => start(bins.from + at)}
        barLabel={(at) => `${range(bins.from + at)}: ${count(bins.counts[at])} requests`}
        format={(most) => `${count(most)} requests`}
        mark={{ at: positionOf(edges, timeout) - bins.from, label: `timeout ${span(timeout)}` }}
      />
    </Figure>
  );
}
