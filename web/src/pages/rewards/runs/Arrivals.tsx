// Arrival times of the requests of selected iterations, from their first request.

import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { NONE, percent, span } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { aligned } from "./fold";

export function Arrivals({ curves }: { curves: Schemas["ArrivalCurve"][] }) {
  const { atMs, shares } = aligned(curves);
  const series = curves.map(({ iteration }, at) => ({
    label: `iteration ${iteration}`,
    values: shares[at] ?? [],
  }));
  const table = () => ({
    columns: ["After", ...series.map(({ label }) => label)],
    rows: atMs.map((at, place) => [
      span(at),
      ...series.map(({ values }) => {
        const share = values[place];
        return share == null ? NONE : percent(share);
      }),
    ]),
  });
  return (
    <Figure
      title="Arrivals"
      about="Share of requests that had arrived. Choose iterations in the table below."
      table={table}
    >
      <Plot
        x={atMs}
        xLabel="time from the first request"
        formatX={span}
        series={series}
        format={percent}
        yMax={1}
      />
    </Figure>
  );
}
