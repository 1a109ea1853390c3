// Bars beside each other, one a bin or a day, with a line where something is marked.

import { useElementSize } from "@mantine/hooks";

const FOOT = 20;
const HEAD = 18;

export interface Mark {
  /** Among the bars: 2.5 is the middle of the third. */
  at: number;
  label: string;
}

export function Bars(props: {
  /** What the chart shows, for those who cannot see it. */
  label: string;
  values: readonly number[];
  /** What a bar tells when it is pointed at. */
  tell: (at: number) => string;
  /** Below a bar's left edge. */
  tick: (at: number) => string;
  /** As wide as a tick's text may be. */
  tickWidth?: number;
  /** The value that reaches the top; that of the highest bar when absent. */
  top?: number;
  /** How the top is written. */
  format: (value: number) => string;
  mark?: Mark;
  colour?: string;
  height?: number;
}) {
  const { label, values, tell, tick, tickWidth = 70, format, mark } = props;
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
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
              key={at}
              x={at * step + 1}
              y={ground - value * scale}
              width={Math.max(1, step - 2)}
              height={value * scale}
              fill={colour}
            >
              <title>{tell(at)}</title>
            </rect>
          ))}
          <line x1={0} x2={width} y1={ground} y2={ground} stroke="var(--assay-ink)" />
          {values.map((_, at) =>
            at % every === 0 && at * step + tickWidth <= width + 8 ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
              <text key={at} x={at * step + 1} y={height - 6}>
                {tick(at)}
              </text>
            ) : null,
          )}
          {mark && <Marked mark={mark} x={mark.at * step} width={width} ground={ground} />}
        </svg>
      )}
    </div>
  );
}

function Marked(props: { mark: Mark; x: number; width: number; ground: number }) {
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
