// Completion of groups over time. A trainer may start on complete groups.

import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { count, percent, span } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { completion } from "./fold";

export function Groups({ timeline }: { timeline: Schemas["Timeline"] }) {
  const { groups, requests } = timeline;
  // A sample of the requests does not tell when a group is complete.
  if (timeline.thinned || groups.name.length === 0) return null;
  const {
    atMs,
    groups: complete,
    requests: finished,
  } = completion(groups.completed_ms, requests.finished_ms);
  const series = [
    { label: "groups complete", values: complete, as: "step" as const },
    { label: "requests finished", values: finished, as: "step" as const, dashed: true },
  ];
  const table = () => ({
    columns: ["Group", "Requests", "Finished", "Completed after"],
    rows: groups.name.map((name, at) => [
      name,
      count(groups.requests[at]),
      count(groups.finished[at]),
      span(groups.completed_ms[at]),
    ]),
  });
  const done = groups.completed_ms.filter((ms) => ms != null).length;
  return (
    <Figure
      title="Groups"
      about={`${count(done)} of ${count(groups.name.length)} groups are complete.`}
      table={table}
    >
      <Plot
        x={atMs}
        xLabel="time from the first request"
        formatX={span}
        series={series}
        format={percent}
        yMax={1}
        height={180}
      />
    </Figure>
  );
}
