// Bins of growing width for stage times, without the empty bins at both ends.

export interface Bins {
  /** Index of the first visible bin. */
  from: number;
  counts: number[];
}

/** Selects the filled bins and the bin of `marked`, with one empty bin on each side. */
export function visibleBins(
  edges: readonly number[],
  counts: readonly number[],
  marked: number,
): Bins {
  const filled = counts.flatMap((count, at) => (count > 0 ? [at] : []));
  const mark = Math.floor(positionOf(edges, marked));
  const from = Math.max(0, Math.min(mark, ...filled) - 1);
  const to = Math.min(counts.length, Math.max(mark, ...filled) + 2);
  return { from, counts: counts.slice(from, to) };
}

/**
 * Position of a time on the axis of bins: 2.5 is the middle of the third bin. Times beyond the last
 * edge are at its end.
 */
export function positionOf(edges: readonly number[], ms: number): number {
  const at = edges.findIndex((edge) => ms < edge);
  if (at < 0) return edges.length;
  const low = at === 0 ? 0 : (edges[at - 1] ?? 0);
  const high = edges[at] ?? low;
  return at + (high > low ? (ms - low) / (high - low) : 0);
}
