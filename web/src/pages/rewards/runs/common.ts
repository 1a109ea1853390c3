// The parts that the charts of a run share.

import { NONE } from "../../../parts/format";
import type { PlotProps, PlotSeries } from "../../../parts/Plot";

/** The iterations on the x axis, by index, because a resumed run may repeat iteration numbers. */
export type Common = Pick<
  PlotProps,
  "x" | "xLabel" | "untitled" | "formatX" | "onPick" | "sync" | "marks"
>;

/** The series as the rows of a table, an iteration each. */
export function rowsOf(
  common: Common,
  series: readonly PlotSeries[],
  format: (value: number) => string,
) {
  return () => ({
    columns: ["Iteration", ...series.map(({ label }) => label)],
    rows: common.x.map((at) => [
      common.formatX?.(at) ?? at,
      ...series.map(({ values }) => {
        const value = values[at];
        return value == null ? NONE : format(value);
      }),
    ]),
  });
}
