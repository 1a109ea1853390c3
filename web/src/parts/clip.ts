// The parts of a chart whose values lie above its upper end. They are drawn as a hatched edge.

/** A span of the x axis from one point to the next that is not clipped, by index. */
export interface Clipped {
  from: number;
  /** The index after the last clipped point, or the last point of the chart. */
  to: number;
  /** The highest value within. */
  peak: number;
}

/** The spans in which any series is above `top`. Values hold until the next point, as steps do. */
export function clippedSpans(
  series: readonly (readonly (number | null)[])[],
  top: number,
): Clipped[] {
  const points = Math.max(0, ...series.map((values) => values.length));
  const spans: Clipped[] = [];
  let open: Clipped | undefined;
  for (let at = 0; at < points; at += 1) {
    const most = Math.max(...series.map((values) => values[at] ?? Number.NEGATIVE_INFINITY));
    if (most > top) {
      const to = Math.min(at + 1, points - 1);
      if (open) {
        open.to = to;
        open.peak = Math.max(open.peak, most);
      } else {
        open = { from: at, to, peak: most };
        spans.push(open);
      }
    } else {
      open = undefined;
    }
  }
  return spans;
}
