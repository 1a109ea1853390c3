// A pool's workers against demand over time, with what the planner wanted.

import { Figure } from "../../parts/Figure";
import { moment, whole } from "../../parts/format";
import { Plot } from "../../parts/Plot";
import { type Columns, columnsOf, topOf } from "./history";
import type { Sample } from "./queries";

export function PoolChart(props: { pool: string; samples: readonly Sample[]; to: string }) {
  const { pool, samples, to } = props;
  const columns = columnsOf(samples, to);
  return (
    <Figure
      title={`Workers of ${pool} against demand`}
      about="Demand: busy workers and requests that waited. What is far above the workers is cut off. Of each number the most in its part of the time."
      table={() => tabled(columns)}
    >
      <Plot
        x={columns.at}
        xAs="time"
        xLabel="time"
        yMax={topOf(columns)}
        format={whole}
        series={[
          { label: "Demand", values: columns.demand, filled: true, as: "step" },
          { label: "Busy", values: columns.busy, as: "step" },
          { label: "Idle", values: columns.idle, as: "step" },
          { label: "Starting", values: columns.starting, as: "step" },
          { label: "Draining", values: columns.draining, as: "step" },
          { label: "Ceiling", values: columns.ceiling, dashed: true, as: "step" },
          { label: "Held", values: columns.hold, dashed: true, as: "step" },
          { label: "Without any queue", values: columns.zeroQueue, dashed: true, as: "step" },
        ]}
      />
      <Plot
        x={columns.at}
        xAs="time"
        xLabel="time"
        height={130}
        format={whole}
        series={[
          {
            label: "Waiting requests",
            values: columns.queued,
            filled: true,
            as: "step",
            colour: 7,
          },
        ]}
      />
    </Figure>
  );
}

function tabled(columns: Columns) {
  const named: [string, readonly (number | null)[]][] = [
    ["Demand", columns.demand],
    ["Starting", columns.starting],
    ["Idle", columns.idle],
    ["Busy", columns.busy],
    ["Draining", columns.draining],
    ["Ceiling", columns.ceiling],
    ["Held", columns.hold],
    ["Without any queue", columns.zeroQueue],
    ["Waiting", columns.queued],
  ];
  return {
    columns: ["Time", ...named.map(([label]) => label)],
    rows: columns.at
      .map((at, row): (string | number)[] => [
        moment(new Date(at * 1000).toISOString()),
        ...named.map(([, values]) => values[row] ?? "–"),
      ])
      .reverse(),
  };
}
