// A bar chart, with an optional line at a marked position.

import { useElementSize } from "@mantine/hooks";

const FOOT = 20;
const HEAD = 18;

export interface Mark {
  /** Position on the axis of bars: 2.5 is the middle of the third bar. */
  at: number;
  label: string;
}

export function Bars(props: {
  /** Accessible name of the chart. */
  label: string;
  values: readonly number[];
  /** Tooltip of a bar. */
  barLabel: (at: number) => string;
  /** Tick label below the left edge of a bar. */
  tick: (at: number) => string;
  /** Width reserved for a tick label, in pixels. */
  tickWidth?: number;
  /** Value at the top of the chart; the highest value when absent. */
  top?: number;
  /** Formats the value at the top. */
  format: (value: number) => string;
  mark?: Mark;
  colour?: string;
  height?: number;
}) {
  const { label, values, barLabel, tick, tickWidth = 70, format, mark } = props;
  const { colour = "var(--assay-bar)", height = 150 } = props;
  const { ref, width } = useElementSize();
  const top = props.top ?? Math.max(0, ...values);
  const step = width / Math.max(1, values.length);
  const ground = height - FOOT;
  const scale = top > 0 ? (ground - HEAD) / top : 0;
  const every = Math.max(1, Math.ceil(tickWidth / Math.max(1, step)));
  return (
    <div ref={ref} style={{ minHeight: height }}>
      {width > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          fill="var(--assay-ink)"
          fontSize={11}
        >
          <line x1={0} x2={width} y1={HEAD} y2={HEAD} stroke="var(--assay-grid)" />
          <text x={2} y={12}>
            {format(top)}
          </text>
          {values.map((value, at) => (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its position
              key={at}
              x={at * step + 1}
              y={ground - value * scale}
              width={Math.max(1, step - 2)}
              height={value * scale}
              fill={colour}
            >
              <title>{barLabel(at)}</title>
            </rect>
          ))}
          <line x1={0} x2={width} y1={ground} y2={ground} stroke="var(--assay-ink)" />
          {values.map((_, at) =>
            at % every === 0 && at * step + tickWidth <= width + 8 ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its position
              <text key={at} x={at * step + 1} y={height - 6}>
                {tick(at)}
              </text>
            ) : null,
          )}
          {mark && <MarkLine mark={mark} x={mark.at * step} width={width} ground={ground} />}
        </svg>
      )}
    </div>
  );
}

function MarkLine(props: { mark: Mark; x: number; width: number; ground: number }) {
  const x = Math.min(Math.max(1, props.x), props.width - 1);
  const right = x < props.width / 2;
  return (
    <>
      <line
        x1={x}
        x2={x}
        y1={4}
        y2={props.ground}
        stroke="var(--assay-bad)"
        strokeWidth={2}
        strokeDasharray="5 3"
      />
      <text
        x={right ? x + 6 : x - 6}
        y={12}
        textAnchor={right ? "start" : "end"}
        fill="var(--assay-bad)"
      >
        {props.mark.label}
      </text>
    </>
  );
}
