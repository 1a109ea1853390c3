// How long a stage ran, as bars over bins that grow, with a line at its timeout.

import { Bars } from "../../parts/Bars";
import { Figure } from "../../parts/Figure";
import { count, span } from "../../parts/format";
import { place, shown } from "./bins";
import type { StageHistogram } from "./queries";

export function StageTimes({ stage }: { stage: StageHistogram }) {
  const { edges_ms: edges, counts, timeout_ms: timeout } = stage;
  const bins = shown(edges, counts, timeout);
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
        `Requests by how long it ran on ${stage.pool}: ${count(stage.requests)} requests, ` +
        `${count(stage.retries)} retries.`
      }
      table={() => ({ columns: ["Ran", "Requests"], rows: rows() })}
    >
      <Bars
        label={`Times of stage ${stage.stage}, with its timeout`}
        values={bins.counts}
        tick={(at) => start(bins.from + at)}
        tell={(at) => `${range(bins.from + at)}: ${count(bins.counts[at])} requests`}
        format={(most) => `${count(most)} requests`}
        mark={{ at: place(edges, timeout) - bins.from, label: `timeout ${span(timeout)}` }}
      />
    </Figure>
  );
}
