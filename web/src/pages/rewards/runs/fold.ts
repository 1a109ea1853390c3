// A run's iterations, from columns to what its charts draw.

import type { Schemas } from "../../../api/client";

export type Iterations = Schemas["Iterations"];
type Histogram = Schemas["Histogram"];
type Curve = Schemas["ArrivalCurve"];

export interface Named {
  label: string;
  values: (number | null)[];
}

/** mean ± the standard deviation, where both are known. */
export function spreadOf(iterations: Pick<Iterations, "mean" | "std">): {
  upper: (number | null)[];
  lower: (number | null)[];
} {
  const side = (sign: number) =>
    iterations.mean.map((mean, at) => {
      const std = iterations.std[at];
      return mean == null || std == null ? null : mean + sign * std;
    });
  return { upper: side(1), lower: side(-1) };
}

/**
 * One series for each name, the most frequent first; what is rarer than the first `most` - 1 goes
 * under `other`. As shares of the iteration's whole when `shares`. Null where nothing is known.
 */
export function stacked(
  columns: readonly Record<string, number>[],
  most: number,
  as: "shares" | "numbers",
): Named[] {
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

const OTHER = "other";

export interface Heat {
  from: number;
  to: number;
  bins: number;
  /** A column an iteration: the share of its requests in each bin; null without a histogram. */
  columns: (number[] | null)[];
}

/** Histograms of different bounds over common ones; what a bin straddles is divided evenly. */
export function heatOf(histograms: readonly (Histogram | null)[], bins: number): Heat | null {
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

/** Adds a share over the bins from `low` to `high`, which are places in bins. */
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

/** Arrival curves over the points of time of all of them, as shares, straight between points. */
export function aligned(curves: readonly Curve[]): { atMs: number[]; shares: (number | null)[][] } {
  const atMs = [...new Set(curves.flatMap((curve) => curve.at_ms))].sort((a, b) => a - b);
  return { atMs, shares: curves.map((curve) => atMs.map((at) => shareAt(curve, at))) };
}

function shareAt(curve: Curve, at: number): number | null {
  const behind = curve.at_ms.findIndex((point) => point >= at);
  if (behind < 0) return curve.at_ms.length > 0 ? 1 : null;
  const [x1, y1] = [curve.at_ms[behind] ?? 0, curve.share[behind] ?? 0];
  if (x1 === at || behind === 0) return x1 === at ? y1 : null;
  const [x0, y0] = [curve.at_ms[behind - 1] ?? 0, curve.share[behind - 1] ?? 0];
  return y0 + ((at - x0) / (x1 - x0)) * (y1 - y0);
}
