// A stage's times in bins that grow: what is empty at both ends is left out, and where a time lies.

export interface Bins {
  /** The first bin that is shown. */
  from: number;
  counts: number[];
}

/** Those with something in them and `marked`, with one empty bin beside them. */
export function shown(edges: readonly number[], counts: readonly number[], marked: number): Bins {
  const filled = counts.flatMap((count, at) => (count > 0 ? [at] : []));
  const mark = Math.floor(place(edges, marked));
  const from = Math.max(0, Math.min(mark, ...filled) - 1);
  const to = Math.min(counts.length, Math.max(mark, ...filled) + 2);
  return { from, counts: counts.slice(from, to) };
}

/** Of a time among the bins: 2.5 is the middle of the third. Beyond the last edge, its end. */
export function place(edges: readonly number[], ms: number): number {
  const at = edges.findIndex((edge) => ms < edge);
  if (at < 0) return edges.length;
  const low = at === 0 ? 0 : (edges[at - 1] ?? 0);
  const high = edges[at] ?? low;
  return at + (high > low ? (ms - low) / (high - low) : 0);
}
