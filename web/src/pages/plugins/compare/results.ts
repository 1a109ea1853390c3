// What changed between two versions, from the replays of recorded requests.

import type { Schemas } from "../../../api/client";

export type Sample = Schemas["SampleSummary"];
type Outcome = Schemas["Outcome"];

/** A recorded request with its outcomes by both versions. */
export interface Compared {
  sample: Sample;
  replay: Schemas["Replay"];
}

export function verdictOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case "scored":
      return outcome.verdict;
    case "timed_out":
      return "timed_out";
    case "error":
      return outcome.code;
  }
}

export function rewardOf(outcome: Outcome): number | null {
  return outcome.kind === "error" ? null : outcome.reward;
}

/** The verdicts of each request before and after. */
export const pairOf = ({ replay }: Compared) => ({
  before: verdictOf(replay.recorded.outcome),
  after: verdictOf(replay.replayed.outcome),
});

export interface Confusion {
  /** Verdicts of either version, the most frequent first. */
  verdicts: string[];
  /** Number of requests by their verdict before and then after. */
  counts: Map<string, Map<string, number>>;
}

export function confusionOf(results: readonly Compared[]): Confusion {
  const counts: Confusion["counts"] = new Map();
  const totals = new Map<string, number>();
  for (const result of results) {
    const { before, after } = pairOf(result);
    const row = counts.get(before) ?? new Map<string, number>();
    counts.set(before, row.set(after, (row.get(after) ?? 0) + 1));
    for (const verdict of [before, after]) totals.set(verdict, (totals.get(verdict) ?? 0) + 1);
  }
  const ranked = [...totals].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return { verdicts: ranked.map(([verdict]) => verdict), counts };
}

/** The reward after less the reward before; null where one of them is an error. */
export function changeOf({ replay }: Compared): number | null {
  const before = rewardOf(replay.recorded.outcome);
  const after = rewardOf(replay.replayed.outcome);
  return before === null || after === null ? null : after - before;
}

export interface Histogram {
  from: number;
  /** Width of a bin. */
  step: number;
  counts: number[];
}

/** Changes that are not zero, in bins of one width around zero: an odd number, so that none has both signs. */
export function histogramOf(changes: readonly number[], bins = 21): Histogram | null {
  const changed = changes.filter((change) => change !== 0);
  if (changed.length === 0) return null;
  const most = Math.max(...changed.map(Math.abs));
  const step = (2 * most) / (bins - 1);
  const from = -most - step / 2;
  const counts = new Array<number>(bins).fill(0);
  for (const change of changed) {
    const bin = Math.min(Math.max(Math.floor((change - from) / step), 0), bins - 1);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { from, step, counts };
}

/** Mean rewards before and after, over the requests with both. */
export function meansOf(results: readonly Compared[]): { before: number; after: number } | null {
  const both = results.filter((result) => changeOf(result) !== null);
  if (both.length === 0) return null;
  const mean = (side: "recorded" | "replayed") =>
    both.reduce((sum, { replay }) => sum + (rewardOf(replay[side].outcome) ?? 0), 0) / both.length;
  return { before: mean("recorded"), after: mean("replayed") };
}
