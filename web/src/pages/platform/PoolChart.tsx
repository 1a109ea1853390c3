// Chart of a pool over time: workers, demand and the target of the planner.

import { Figure } from "../../parts/Figure";
import { count, moment } from "../../parts/format";
import { Plot } from "../../parts/Plot";
import { type Columns, columnsOf, peakOf, topOf } from "./history";
import type { Sample } from "./queries";

export function PoolChart(props: { pool: string; samples: readonly Sample[]; to: string }) {
  const { pool, samples, to } = props;
  const columns = columnsOf(samples, to);
  const top = topOf(columns);
  const peak = peakOf(columns);
  const clipped =
    peak > top
      ? ` Lines are clipped at ${count(Math.floor(top))}, where the edge is hatched; the peak is ${count(peak)}.`
      : "";
  return (
    <Figure
      title={`Workers and load of ${pool}`}
      about={`Demand = busy workers + queued requests. Each point is the maximum in its interval.${clipped}`}
      table={() => tableOf(columns)}
    >
      <Plot
        x={columns.at}
        xAs="time"
        xLabel="time"
        yMax={top}
        whole
        format={count}
        series={[
          { label: "Demand", values: columns.demand, filled: true, as: "step" },
          { label: "Busy", values: columns.busy, as: "step" },
          { label: "Idle", values: columns.idle, as: "step" },
          { label: "Starting", values: columns.starting, as: "step" },
          { label: "Draining", values: columns.draining, as: "step" },
          { label: "Target max", values: columns.ceiling, dashed: true, as: "step" },
          { label: "Target min", values: columns.hold, dashed: true, as: "step" },
          { label: "Workers for zero wait", values: columns.zeroQueue, dashed: true, as: "step" },
        ]}
      />
      <Plot
        x={columns.at}
        xAs="time"
        xLabel="time"
        height={130}
        whole
        format={count}
        series={[
          {
            label: "Queued requests",
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

function tableOf(columns: Columns) {
  const named: [string, readonly (number | null)[]][] = [
    ["Demand", columns.demand],
    ["Starting", columns.starting],
    ["Idle", columns.idle],
    ["Busy", columns.busy],
    ["Draining", columns.draining],
    ["Target max", columns.ceiling],
    ["Target min", columns.hold],
    ["Workers for zero wait", columns.zeroQueue],
    ["Queued", columns.queued],
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
