// Chart of a pool over time: workers, demand and the target of the planner.

import { Figure } from "../../parts/Figure";
import { count, moment } from "../../parts/format";
import { Plot } from "../../parts/Plot";
import { aboveBusy, type Columns, columnsOf, type Period, peakOf, topOf } from "./history";
import type { Sample } from "./queries";

export function PoolChart(props: { pool: string; samples: readonly Sample[]; period: Period }) {
  const { pool, samples, period } = props;
  const columns = columnsOf(samples, period);
  const top = topOf(columns);
  const peak = peakOf(columns);
  const above = aboveBusy(columns);
  const clipped =
    peak > top
      ? ` Lines are clipped at ${count(Math.floor(top))}, where the edge is hatched; the peak is ${count(peak)}.`
      : "";
  const gap = columns.busy.includes(null)
    ? " There is a gap where the server took no samples."
    : "";
  return (
    <Figure
      title={`Workers and load of ${pool}`}
      about={`Workers are stacked by state. Demand = busy workers + queued requests. The grey band is the target. Each point is the maximum in its interval.${gap}${clipped}`}
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
          { label: "Busy", values: columns.busy, filled: true, as: "step" },
          ...above.map(({ label, values, drawn }, at) => ({
            label,
            values,
            drawn,
            as: "step" as const,
            colour: at + 2,
          })),
          { label: "Demand", values: columns.demand, as: "step", colour: "ink" },
          {
            label: "Target max",
            values: columns.ceiling,
            dashed: true,
            as: "step",
            colour: "grey",
          },
          { label: "Target min", values: columns.hold, dashed: true, as: "step", colour: "grey" },
          {
            label: "Workers for zero wait",
            values: columns.zeroQueue,
            dashed: true,
            as: "step",
            colour: 1,
          },
        ]}
        bands={[
          ...above.map((_, at) => ({ upper: at + 1, lower: at, colour: at + 2 })),
          { upper: above.length + 2, lower: above.length + 3, colour: "grey" },
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
