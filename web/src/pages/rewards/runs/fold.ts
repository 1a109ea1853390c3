// Converts the iterations of a run to chart data.

import type { Schemas } from "../../../api/client";

export type Iterations = Schemas["Iterations"];
type Histogram = Schemas["Histogram"];
type Curve = Schemas["ArrivalCurve"];

export interface NamedSeries {
  label: string;
  values: (number | null)[];
}

/** Mean ± standard deviation where both are known, within the least and the greatest reward. */
export function spreadOf(iterations: Pick<Iterations, "mean" | "std" | "min" | "max">): {
  upper: (number | null)[];
  lower: (number | null)[];
} {
  const side = (sign: number) =>
    iterations.mean.map((mean, at) => {
      const std = iterations.std[at];
      if (mean == null || std == null) return null;
      const [min, max] = [iterations.min[at] ?? mean, iterations.max[at] ?? mean];
      return Math.min(Math.max(mean + sign * std, min), max);
    });
  return { upper: side(1), lower: side(-1) };
}

/** The last mean reward less the one before it; undefined without two. That of a live batch still changes. */
export function lastChange({
  mean,
  ended_at,
}: Pick<Iterations, "mean" | "ended_at">): number | undefined {
  const [before, last] = mean
    .filter((one, at): one is number => one !== null && ended_at[at] != null)
    .slice(-2);
  return before === undefined || last === undefined ? undefined : last - before;
}

/**
 * One series per name, most frequent first. Names after the first `most` - 1 are summed as `other`.
 * `as: "shares"` divides by the sum of the iteration. Null where the iteration has no data.
 */
export function stacked(
  columns: readonly Record<string, number>[],
  most: number,
  as: "shares" | "numbers",
): NamedSeries[] {
  const totals = new Map<string, number>();
  for (const column of columns) {
    for (const [name, value] of Object.entries(column)) {
      totals.set(name, (totals.get(name) ?? 0) + value);
    }
  }
  const ranked = [...totals]
    .filter(([name]) => name !== OTHER)
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .map(([name]) => name);
  const fits = ranked.length + (totals.has(OTHER) ? 1 : 0) <= most;
  const named = fits ? ranked : ranked.slice(0, most - 1);
  const labels = named.length < totals.size ? [...named, OTHER] : named;
  return labels.map((label) => ({
    label,
    values: columns.map((column) => {
      const sum = Object.values(column).reduce((all, value) => all + value, 0);
      if (sum === 0) return null;
      const known = named.reduce((all, name) => all + (column[name] ?? 0), 0);
      const value = label === OTHER ? sum - known : (column[label] ?? 0);
      return as === "shares" ? value / sum : value;
    }),
  }));
}

export const OTHER = "other";

export interface HeatMapData {
  from: number;
  to: number;
  bins: number;
  /** One column per iteration with the share of its requests per bin; null without a histogram. */
  columns: (number[] | null)[];
}

/**
 * Rebins histograms of different ranges to a common range. A count that spans several bins is
 * divided evenly.
 */
export function heatMapOf(
  histograms: readonly (Histogram | null)[],
  bins: number,
): HeatMapData | null {
  const known = histograms.filter((one) => one !== null);
  if (known.length === 0) return null;
  const from = Math.min(...known.map((one) => one.from));
  const highest = Math.max(...known.map((one) => one.to));
  const to = highest > from ? highest : from + 1;
  const width = (to - from) / bins;
  const columns = histograms.map((one) => {
    if (!one) return null;
    const shares = new Array<number>(bins).fill(0);
    const all = one.counts.reduce((sum, value) => sum + value, 0);
    const step = (one.to - one.from) / one.counts.length;
    for (const [at, value] of one.counts.entries()) {
      if (value === 0) continue;
      const low = one.from + at * step;
      spread(shares, (low - from) / width, (low + step - from) / width, value / all);
    }
    return shares;
  });
  return { from, to, bins, columns };
}

/** Whether there are more than two bins with anything in them: two, as of rewards 0 and 1, say what the mean says. */
export function hasSpread({ columns, bins }: HeatMapData): boolean {
  const used = Array.from({ length: bins }, (_, bin) => columns.some((shares) => shares?.[bin]));
  return used.filter(Boolean).length > 2;
}

/** Adds a share to the bins from `low` to `high`, in units of bins. */
function spread(shares: number[], low: number, high: number, share: number): void {
  const last = shares.length - 1;
  const first = Math.min(Math.max(Math.floor(low + 1e-9), 0), last);
  if (high - low < 1e-9) {
    shares[first] = (shares[first] ?? 0) + share;
    return;
  }
  for (let bin = first; bin <= last && bin < high - 1e-9; bin += 1) {
    const within = Math.min(bin + 1, high) - Math.max(bin, low);
    shares[bin] = (shares[bin] ?? 0) + (share * within) / (high - low);
  }
}

/** Interpolates arrival curves linearly at the points in time of all of them. */
export function aligned(curves: readonly Curve[]): { atMs: number[]; shares: (number | null)[][] } {
  const atMs = [...new Set(curves.flatMap((curve) => curve.at_ms))].sort((a, b) => a - b);
  return { atMs, shares: curves.map((curve) => atMs.map((at) => shareAt(curve, at))) };
}

function shareAt(curve: Curve, at: number): number | null {
  const next = curve.at_ms.findIndex((point) => point >= at);
  if (next < 0) return curve.at_ms.length > 0 ? 1 : null;
  const [x1, y1] = [curve.at_ms[next] ?? 0, curve.share[next] ?? 0];
  if (x1 === at || next === 0) return x1 === at ? y1 : null;
  const [x0, y0] = [curve.at_ms[next - 1] ?? 0, curve.share[next - 1] ?? 0];
  return y0 + ((at - x0) / (x1 - x0)) * (y1 - y0);
}
