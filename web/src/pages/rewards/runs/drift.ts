// How far the iterations of a run are from its first ones, and where its plugin was promoted.

import type { Schemas } from "../../../api/client";
import type { Mark } from "../../../parts/marks";
import { visible } from "../../../parts/names";
import type { Iterations } from "./fold";

export type Promotion = Schemas["Promotion"];

/** Numbers of iterations of a baseline. */
export const BASELINES = [5, 10, 20, 50] as const;
export const BASELINE_DEFAULT = 10;

export interface Drift {
  /** Part of the requests whose verdict would have to change for the shares of the baseline: 0 to 1. */
  verdicts: (number | null)[];
  /** Mean reward less that of the baseline. */
  reward: (number | null)[];
}

/**
 * The distance of each iteration from the first `baseline` ones that have verdicts, taken together: of verdicts the
 * total variation distance, half the sum of the differences of shares.
 */
export function driftOf(
  iterations: Pick<Iterations, "verdicts" | "mean" | "counts">,
  baseline: number,
): Drift {
  const first = iterations.verdicts
    .map((verdicts, at) => ({ verdicts, at }))
    .filter(({ verdicts }) => total(verdicts) > 0)
    .slice(0, baseline);
  const pooled: Record<string, number> = {};
  let [rewards, rewarded] = [0, 0];
  for (const { verdicts, at } of first) {
    for (const [name, requests] of Object.entries(verdicts)) {
      pooled[name] = (pooled[name] ?? 0) + requests;
    }
    const mean = iterations.mean[at];
    const counts = iterations.counts[at];
    if (mean == null || counts === undefined) continue;
    rewards += mean * (counts.scored + counts.timed_out);
    rewarded += counts.scored + counts.timed_out;
  }
  return {
    verdicts: iterations.verdicts.map((verdicts) =>
      first.length > 0 && total(verdicts) > 0 ? distance(verdicts, pooled) : null,
    ),
    reward: iterations.mean.map((mean) =>
      mean == null || rewarded === 0 ? null : mean - rewards / rewarded,
    ),
  };
}

type Counts = Readonly<Record<string, number>>;

function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}

function distance(one: Counts, two: Counts): number {
  const [ofOne, ofTwo] = [total(one), total(two)];
  const names = new Set([...Object.keys(one), ...Object.keys(two)]);
  let sum = 0;
  for (const name of names) sum += Math.abs((one[name] ?? 0) / ofOne - (two[name] ?? 0) / ofTwo);
  return sum / 2;
}

/**
 * The promotions as marks on the iterations, by index: each before the first batch that was announced after it. Those
 * after the last batch are left out.
 */
export function promotionMarks(
  announcedAt: readonly string[],
  promotions: readonly Promotion[],
): (Mark & { promotion: Promotion })[] {
  const times = announcedAt.map((at) => Date.parse(at));
  return promotions.flatMap((promotion) => {
    const at = Date.parse(promotion.at);
    const next = times.findIndex((time) => time >= at);
    if (next < 0) return [];
    const label = `${visible(promotion.channel)} ${visible(promotion.version)}`;
    return [{ at: Math.max(next - 0.5, 0), label, promotion }];
  });
}

/** One series per k of pass@k, the smallest k first. */
export function passSeries(
  passAt: Iterations["pass_at"],
): { label: string; values: (number | null)[] }[] {
  const all = new Set(passAt.flatMap((of) => Object.keys(of)));
  return [...all]
    .sort((one, two) => Number(one) - Number(two))
    .map((k) => ({ label: `pass@${k}`, values: passAt.map((of) => of[k] ?? null) }));
}

/** One series per component, by name, the first `most` of them. */
export function componentSeries(
  components: Iterations["components"],
  most: number,
): { label: string; values: (number | null)[] }[] {
  const all = new Set(components.flatMap((of) => Object.keys(of)));
  return [...all]
    .sort()
    .slice(0, most)
    .map((name) => ({
      label: visible(name),
      values: components.map((of) => of[name] ?? null),
    }));
}
