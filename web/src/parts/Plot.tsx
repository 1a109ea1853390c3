// Charts with lines, steps and bars over a common x axis, drawn by uPlot.

import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { SERIES } from "../theme";
import { clippedSpans } from "./clip";
import { moment, withoutZeros } from "./format";
import { drawMarks, type Mark } from "./marks";
import { useFonts } from "./useFonts";
import { useSeen } from "./useSeen";

/** A colour of the series, or one that stands for no series: `ink` for what is compared, `grey` for the rest. */
export type Colour = number | "ink" | "grey";

export interface PlotSeries {
  label: string;
  /** One value per point of x; null if there is none. */
  values: readonly (number | null)[];
  /** `edge`: the edge of a band, which has neither a line nor an entry in the legend. */
  as?: "line" | "step" | "bars" | "points" | "edge";
  dashed?: boolean;
  /** Index of the colour, to give one thing the same colour in several charts. */
  colour?: Colour;
  /** Where the line is drawn, if not at the values: on top of other areas. */
  drawn?: readonly (number | null)[];
  /** Fills the area down to zero. */
  filled?: boolean;
}

export interface PlotProps {
  x: readonly number[];
  /** `time`: x is in seconds since 1970. */
  xAs?: "number" | "time";
  xLabel: string;
  /** Writes no title below the x axis, where the page says what it is. Times never have one. */
  untitled?: boolean;
  series: PlotSeries[];
  /** Formats values of y on the axis and in the legend. */
  format?: (value: number) => string;
  formatX?: (value: number) => string;
  height?: number;
  yMin?: number;
  /** Values above are clipped: the edge is hatched there, with the highest value. */
  yMax?: number;
  /** The values are counts: ticks are whole numbers. */
  whole?: boolean;
  /** Stacks the series, the first at the bottom. The legend shows unstacked values. */
  stacked?: boolean;
  /** Joins the points of a series over those that it lacks. */
  gapless?: boolean;
  /** Fills the area between two series, given by index. */
  bands?: { upper: number; lower: number; colour?: Colour }[];
  /** Charts with the same key share the cursor. */
  sync?: string;
  /** Vertical lines where something happened. */
  marks?: readonly Mark[];
  /** Called with the index of the clicked point. */
  onPick?: (at: number) => void;
}

export function Plot(props: PlotProps) {
  const { x, series, height = 180 } = props;
  const scheme = useComputedColorScheme();
  const { ref: frame, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const seen = useSeen(host);
  const shown = useRef(props);
  shown.current = props;
  const values = series.map((one) => one.drawn ?? one.values);
  const data = [x, ...(props.stacked ? stackedValues(values) : values)] as uPlot.AlignedData;
  const shownData = useRef(data);
  shownData.current = data;
  const fonts = useFonts();
  const shape = JSON.stringify([
    fonts,
    [
      scheme,
      props.xAs,
      props.xLabel,
      props.untitled,
      props.yMin,
      props.yMax,
      props.whole,
      props.stacked,
      props.gapless,
      props.bands,
    ],
    series.map(({ values: _, drawn: _drawn, ...rest }) => rest),
  ]);

  // uPlot cannot change the shape of a chart, so a new shape creates a new chart; new data is set
  // on the existing one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` covers all that is read
  useEffect(() => {
    if (!host.current || width === 0 || !seen) return;
    const chart = new uPlot(options(shown, scheme, width, height), shownData.current, host.current);
    plot.current = chart;
    return () => {
      chart.destroy();
      plot.current = null;
    };
  }, [shape, width > 0, seen]);
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

const DAY_BELOW = "\n{D} {MMM}";
const TIME = "{HH}:{mm}";
/**
 * Formats of times on an axis by the seconds between two ticks. A second line shows the day where
 * it changes.
 */
const TICKS: (string | number | null)[][] = [
  [86_400 * 28, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [86_400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [3_600, TIME, DAY_BELOW, null, DAY_BELOW, null, null, null, 1],
  [60, TIME, DAY_BELOW, null, DAY_BELOW, null, null, null, 1],
  [1, `${TIME}:{ss}`, DAY_BELOW, null, DAY_BELOW, null, null, null, 1],
];

/** Steps between ticks of counts: 1, 2, 5, 10, ... */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
/** Pixels for the ticks of the x axis with one line of text. */
const X_AXIS_HEIGHT = 30;
/** Pixels between two ticks of counts, few enough for two labels in a low chart. */
const WHOLE_SPACE = 24;

function options(
  shown: { current: PlotProps },
  scheme: "light" | "dark",
  width: number,
  height: number,
): uPlot.Options {
  const { xAs = "number", xLabel, series, yMin, yMax, whole, sync } = shown.current;
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--assay-ink").trim();
  const grid = { stroke: style.getPropertyValue("--assay-grid").trim(), width: 1 };
  const y = (value: number | null) =>
    value == null ? "–" : (shown.current.format ?? String)(value);
  const xText = (value: number | null) =>
    value == null ? "–" : (shown.current.formatX ?? String)(value);
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: ink, grid, ticks: grid, font, labelFont: font, labelSize: 20 };
  const isTitled = xAs !== "time" && !shown.current.untitled;
  const xAxis = {
    ...axis,
    ...(isTitled ? { label: xLabel } : {}),
    // Ticks of times have a second line for the day.
    size: xAs === "time" ? X_AXIS_HEIGHT + 16 : X_AXIS_HEIGHT,
  };
  return {
    width,
    height,
    scales: {
      x: { time: xAs === "time" },
      y: {
        range: (_, low, high) => yRange(low, whole ? Math.max(high ?? 0, 1) : high, yMin, yMax),
      },
    },
    axes: [
      shown.current.formatX
        ? { ...xAxis, space: 80, values: (_, values) => values.map(xText) }
        : { ...xAxis, ...(xAs === "time" ? { space: 64, values: TICKS } : {}) },
      {
        ...axis,
        ...(shown.current.whole ? { incrs: WHOLE_STEPS, space: WHOLE_SPACE } : {}),
        size: (_, values) => axisWidth(values),
        values: (_, values) => values.map((value) => withoutZeros(y(value))),
      },
    ],
    series: [
      xAs === "time"
        ? { label: xLabel, value: "{D} {MMM} {YYYY}, {HH}:{mm}:{ss}" }
        : { label: xLabel, value: (_, value) => xText(value) },
      ...series.map((one, at) => ({
        ...seriesOptions(one, paletteOf(scheme), at, (place) =>
          y(shown.current.series[at]?.values[place] ?? null),
        ),
        spanGaps: shown.current.gapless ?? false,
      })),
    ],
    bands: bandFills(shown.current, paletteOf(scheme)),
    legend: { live: false, markers: { fill: "transparent", dash: legendDash } },
    ...(sync ? { cursor: { sync: { key: sync } } } : {}),
    hooks: {
      draw: [
        (chart) => drawClipped(chart, shown.current),
        (chart) => drawMarks(chart, shown.current.marks ?? []),
      ],
      setCursor: [
        (chart) => placeTooltip(chart, tooltipText(chart, xAs === "time", xText, y, shown)),
      ],
      init: [
        (chart) => {
          const tooltip = document.createElement("div");
          tooltip.className = "u-tooltip";
          tooltip.hidden = true;
          chart.over.append(tooltip);
        },
        (chart) => {
          chart.over.addEventListener("click", () => {
            if (chart.cursor.idx != null) shown.current.onPick?.(chart.cursor.idx);
          });
        },
      ],
    },
  };
}

function legendDash(chart: uPlot, series: number): string {
  return chart.series[series]?.dash ? "dashed" : "solid";
}

/** The values at the cursor, one line each; null while it is not over a point. */
function tooltipText(
  chart: uPlot,
  isTime: boolean,
  xText: (value: number | null) => string,
  y: (value: number | null) => string,
  shown: { current: PlotProps },
): string | null {
  const at = chart.cursor.idx;
  if (at == null) return null;
  const x = shown.current.x[at];
  if (x === undefined) return null;
  const title = isTime ? moment(new Date(x * 1000).toISOString()) : xText(x);
  const lines = shown.current.series.map(
    ({ label, values }) => `${label}: ${y(values[at] ?? null)}`,
  );
  return [`${shown.current.xLabel} ${title}`, ...lines].join("\n");
}

/** Height of the hatched edge and distance of its lines, in CSS pixels. */
const EDGE_HEIGHT = 8;
const HATCH_GAP = 5;

/** Hatches the upper edge where values lie above it, with the highest of them as text. */
function drawClipped(chart: uPlot, { x, series, yMax, stacked, format = String }: PlotProps) {
  if (yMax === undefined || stacked) return;
  const top = chart.scales.y?.max ?? yMax;
  const spans = clippedSpans(
    series.map(({ values, drawn }) => drawn ?? values),
    // Shares may be above 1 by what floating point adds.
    top * (1 + 1e-9),
  );
  if (spans.length === 0) return;
  const { ctx, bbox } = chart;
  const px = devicePixelRatio;
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--assay-late").trim();
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.lineWidth = px;
  ctx.font = `${11 * px}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = "top";
  let textFrom = Number.NEGATIVE_INFINITY;
  for (const { from, to, peak } of spans) {
    const left = chart.valToPos(x[from] ?? 0, "x", true);
    const right = Math.max(chart.valToPos(x[to] ?? 0, "x", true), left + 2 * px);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, EDGE_HEIGHT * px);
    ctx.clip();
    ctx.beginPath();
    for (let at = left - EDGE_HEIGHT * px; at < right; at += HATCH_GAP * px) {
      ctx.moveTo(at, bbox.top + EDGE_HEIGHT * px);
      ctx.lineTo(at + EDGE_HEIGHT * px, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
    const text = format(peak);
    const width = ctx.measureText(text).width;
    // Texts of narrow spans would lie on each other.
    const at = Math.min(left, bbox.left + bbox.width - width);
    if (at < textFrom) continue;
    ctx.fillText(text, at, bbox.top + (EDGE_HEIGHT + 2) * px);
    textFrom = at + width + 4 * px;
  }
  ctx.restore();
}

const TOOLTIP_GAP = 12;

function placeTooltip(chart: uPlot, text: string | null) {
  const tooltip = chart.over.querySelector<HTMLElement>(".u-tooltip");
  if (!tooltip) return;
  const { left = -1, top = -1 } = chart.cursor;
  tooltip.hidden = text === null || left < 0;
  if (tooltip.hidden || text === null) return;
  // Text of tenants stays text.
  tooltip.textContent = text;
  const fits = left + TOOLTIP_GAP + tooltip.offsetWidth < chart.over.clientWidth;
  tooltip.style.left = `${fits ? left + TOOLTIP_GAP : Math.max(left - TOOLTIP_GAP - tooltip.offsetWidth, 0)}px`;
  tooltip.style.top = `${Math.max(top - tooltip.offsetHeight / 2, 0)}px`;
}

type Palette = (colour: Colour) => string;

function paletteOf(scheme: "light" | "dark"): Palette {
  const style = getComputedStyle(document.documentElement);
  return (colour) => {
    if (colour === "ink") return style.getPropertyValue("--assay-ink").trim();
    if (colour === "grey") return style.getPropertyValue("--assay-waiting").trim();
    return SERIES[scheme][colour % SERIES[scheme].length] as string;
  };
}

/** What is added to a colour for an area: an alpha of a quarter. */
const AREA = "40";

function seriesOptions(
  one: PlotSeries,
  colours: Palette,
  at: number,
  own: (place: number) => string,
): uPlot.Series {
  const stroke = colours(one.colour ?? at);
  const series: uPlot.Series = {
    label: one.label,
    stroke,
    width: one.as === "points" || one.as === "edge" ? 0 : 1.5,
    ...(one.as === "edge" ? { class: "u-edge" } : {}),
    points: { show: (chart) => one.as === "points" || isSparse(one, chart), size: 4 },
    value: (_, _value, _series, place) => (place == null ? "–" : own(place)),
  };
  if (one.dashed) series.dash = [6, 4];
  if (one.filled || one.as === "bars") series.fill = stroke + AREA;
  if (one.as === "step" && uPlot.paths.stepped) series.paths = uPlot.paths.stepped({ align: 1 });
  if (one.as === "bars" && uPlot.paths.bars) series.paths = uPlot.paths.bars({ size: [0.8, 60] });
  return series;
}

/** Width for the longest label of the axis. */
function axisWidth(labels: string[] | null): number {
  const longest = Math.max(...(labels ?? []).map((label) => label.length), 4);
  return longest * 7 + 20;
}

/** A line with few points shows them, because a single point would be invisible. */
function isSparse(one: PlotSeries, chart: uPlot): boolean {
  return (one.as ?? "line") === "line" && !one.dashed && chart.data[0].length <= 30;
}

/**
 * Sums of each series and those before it. A null adds nothing; where all are null, the sum is
 * null.
 */
function stackedValues(values: readonly (readonly (number | null)[])[]): (number | null)[][] {
  return values.map((own, at) =>
    own.map((_, place) => {
      const below = values.slice(0, at + 1).map((one) => one[place] ?? null);
      return below.every((value) => value === null)
        ? null
        : below.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    }),
  );
}

function bandFills({ stacked, bands = [], series }: PlotProps, colours: Palette): uPlot.Band[] {
  const paint = (colour: Colour) => colours(colour) + AREA;
  if (stacked) {
    return series.slice(1).map((one, at) => ({
      series: [at + 2, at + 1],
      fill: paint(one.colour ?? at + 1),
    }));
  }
  return bands.map(({ upper, lower, colour = 0 }) => ({
    series: [upper + 1, lower + 1],
    fill: paint(colour),
  }));
}

/** Range of the y axis. It starts at zero unless a value is negative, and is never empty. */
function yRange(
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
