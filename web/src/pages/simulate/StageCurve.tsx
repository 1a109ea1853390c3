// Workers of one stage over simulated time.

import type { Schemas } from "../../api/client";
import { Figure } from "../../parts/Figure";
import { span, whole } from "../../parts/format";
import { Plot, type PlotSeries } from "../../parts/Plot";

export function StageCurve({ stage }: { stage: Schemas["SimulatedStage"] }) {
  const { curve } = stage;
  const at = curve.map(({ at_ms }) => at_ms);
  const workers: PlotSeries[] = [
    { label: "Workers", values: curve.map((one) => one.workers), filled: true, as: "step" },
    { label: "Busy", values: curve.map(({ busy }) => busy), as: "step" },
  ];
  const waiting: PlotSeries = {
    label: "Queued requests",
    values: curve.map(({ queued }) => queued),
    filled: true,
    as: "step",
    colour: 7,
  };
  const named = [...workers, waiting];
  const table = () => ({
    columns: ["Time", ...named.map(({ label }) => label)],
    rows: at.map((ms, row): (string | number)[] => [
      span(ms),
      ...named.map(({ values }) => values[row] ?? "–"),
    ]),
  });
  return (
    <Figure
      title={`Workers for ${stage.stage}`}
      about={`Pool ${stage.pool}. Time from the announcement of the first simulated batch.`}
      table={table}
    >
      <Plot x={at} xLabel="time" formatX={span} format={whole} height={180} series={workers} />
      <Plot x={at} xLabel="time" formatX={span} format={whole} height={130} series={[waiting]} />
    </Figure>
  );
}
