// How far the iterations of a run are from a baseline, and where its plugin was promoted.

import type { Schemas } from "../../../api/client";
import type { Mark } from "../../../parts/marks";
import { visible } from "../../../parts/names";
import type { Iterations } from "./fold";

export type Promotion = Schemas["Promotion"];

/** The iterations with which the others are compared: the first ones, or those from one number to another. */
export type Baseline = { first: number } | { from: number; to: number };

/** Numbers of first iterations that can be chosen. */
export const FIRSTS = [5, 10, 20, 50];
export const BASELINE_DEFAULT: Baseline = { first: 10 };

/** Reads `10`, the first ten, or `20-29`, from one iteration to another. */
export function baselineOf(text: string | number | undefined): Baseline | undefined {
  const [from, to, ...rest] = String(text ?? "").split("-");
  const numbers = [from, to].map((part) =>
    /^\d{1,15}$/.test(part ?? "") ? Number(part) : undefined,
  );
  if (numbers[0] === undefined || rest.length > 0) return undefined;
  if (to === undefined) return FIRSTS.includes(numbers[0]) ? { first: numbers[0] } : undefined;
  return numbers[1] === undefined ? undefined : { from: numbers[0], to: numbers[1] };
}

/** What `baselineOf` reads; nothing for the default. */
export function baselineText(baseline: Baseline): string | number | undefined {
  if ("from" in baseline) return `${baseline.from}-${baseline.to}`;
  return baseline.first === 10 ? undefined : baseline.first;
}

export interface Drift {
  /** Part of the requests whose verdict would have to change for the shares of the baseline: 0 to 1. */
  verdicts: (number | null)[];
  /** Mean reward less that of the baseline. */
  reward: (number | null)[];
}

/**
 * The distance of each iteration from those of the baseline that have verdicts, taken together: of verdicts the
 * total variation distance, half the sum of the differences of shares.
 */
export function driftOf(
  iterations: Pick<Iterations, "iteration" | "verdicts" | "mean" | "counts">,
  baseline: Baseline,
): Drift {
  const known = iterations.verdicts
    .map((verdicts, at) => ({ verdicts, at }))
    .filter(({ verdicts }) => total(verdicts) > 0);
  const isChosen = (number: number | undefined) =>
    "from" in baseline && number !== undefined && baseline.from <= number && number <= baseline.to;
  const base =
    "first" in baseline
      ? known.slice(0, baseline.first)
      : known.filter(({ at }) => isChosen(iterations.iteration[at]));
  const pooled: Record<string, number> = {};
  let [rewards, rewarded] = [0, 0];
  for (const { verdicts, at } of base) {
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
      base.length > 0 && total(verdicts) > 0 ? distance(verdicts, pooled) : null,
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
