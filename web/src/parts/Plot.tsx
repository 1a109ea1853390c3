// Lines, steps and bars over a common x axis, by uPlot, in the colours of the scheme.

import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { SERIES } from "../theme";

export interface PlotSeries {
  label: string;
  /** One a point of x; null where there is none. */
  values: readonly (number | null)[];
  as?: "line" | "step" | "bars" | "points";
  dashed?: boolean;
  /** Place in the row of colours, to keep one thing's colour over several charts. */
  colour?: number;
  /** Fills to zero. */
  filled?: boolean;
}

export interface PlotProps {
  x: readonly number[];
  /** `time`: x is seconds since 1970. */
  xAs?: "number" | "time";
  xLabel: string;
  series: PlotSeries[];
  /** Writes a value of y, on the axis and in the legend. */
  format?: (value: number) => string;
  formatX?: (value: number) => string;
  height?: number;
  yMin?: number;
  yMax?: number;
  /** Told the place of a point in x that was clicked. */
  onPick?: (at: number) => void;
}

export function Plot(props: PlotProps) {
  const { x, series, height = 220 } = props;
  const scheme = useComputedColorScheme();
  const { ref: frame, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef(props);
  shown.current = props;
  const data = [x, ...series.map((one) => one.values)] as uPlot.AlignedData;
  const shownData = useRef(data);
  shownData.current = data;
  const shape = `${scheme} ${props.xAs} ${props.xLabel} ${props.yMin} ${props.yMax} ${JSON.stringify(
    series.map(({ values: _, ...rest }) => rest),
  )}`;

  // A chart of another shape is another chart; new numbers alone are put into the one there is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for all that is read.
  useEffect(() => {
    if (!host.current || width === 0) return;
    const made = new uPlot(options(shown, scheme, width, height), shownData.current, host.current);
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [shape, width > 0]);
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);
  useEffect(() => {
    plot.current?.setData(shownData.current);
  });

  const label = `${series.map((one) => one.label).join(", ")} by ${props.xLabel}`;
  return (
    <div ref={frame} style={{ minHeight: height }}>
      <div ref={host} role="img" aria-label={label} />
    </div>
  );
}

function options(
  shown: { current: PlotProps },
  scheme: "light" | "dark",
  width: number,
  height: number,
): uPlot.Options {
  const { xAs = "number", xLabel, series, yMin, yMax } = shown.current;
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--assay-ink").trim();
  const grid = { stroke: style.getPropertyValue("--assay-grid").trim(), width: 1 };
  const y = (value: number | null) =>
    value == null ? "–" : (shown.current.format ?? String)(value);
  const xText = (value: number | null) =>
    value == null ? "–" : (shown.current.formatX ?? String)(value);
  const axis = { stroke: ink, grid, ticks: grid };
  return {
    width,
    height,
    scales: {
      x: { time: xAs === "time" },
      y: { range: (_, low, high) => bounds(low, high, yMin, yMax) },
    },
    axes: [
      shown.current.formatX
        ? { ...axis, label: xLabel, values: (_, values) => values.map(xText) }
        : { ...axis, label: xLabel },
      { ...axis, size: 64, values: (_, values) => values.map(y) },
    ],
    series: [
      xAs === "time" ? { label: xLabel } : { label: xLabel, value: (_, value) => xText(value) },
      ...series.map((one, at) => drawn(one, SERIES[scheme], at, (value) => y(value))),
    ],
    hooks: {
      init: [
        (made) => {
          made.over.addEventListener("click", () => {
            if (made.cursor.idx != null) shown.current.onPick?.(made.cursor.idx);
          });
        },
      ],
    },
  };
}

function drawn(
  one: PlotSeries,
  colours: readonly string[],
  at: number,
  y: (value: number | null) => string,
): uPlot.Series {
  const stroke = colours[(one.colour ?? at) % colours.length] as string;
  const series: uPlot.Series = {
    label: one.label,
    stroke,
    width: one.as === "points" ? 0 : 1.5,
    points: { show: one.as === "points", size: 4 },
    value: (_, value) => y(value),
  };
  if (one.dashed) series.dash = [6, 4];
  if (one.filled || one.as === "bars") series.fill = `${stroke}40`;
  if (one.as === "step" && uPlot.paths.stepped) series.paths = uPlot.paths.stepped({ align: 1 });
  if (one.as === "bars" && uPlot.paths.bars) series.paths = uPlot.paths.bars({ size: [0.8, 60] });
  return series;
}

/** From zero unless something lies below it, and never flat. */
function bounds(
  low: number | null,
  high: number | null,
  yMin: number | undefined,
  yMax: number | undefined,
): [number, number] {
  const bottom = yMin ?? Math.min(0, low ?? 0);
  const top = yMax ?? Math.max(high ?? 1, bottom);
  return top > bottom
    ? [bottom, yMax === undefined ? top + (top - bottom) * 0.05 : top]
    : [bottom, bottom + 1];
}
