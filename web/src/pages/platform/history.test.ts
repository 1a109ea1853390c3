import { expect, it } from "vitest";
import { columnsOf, costOf, peakOf, topOf } from "./history";
import type { Sample } from "./queries";

const sample = (at: string, more: Partial<Sample>): Sample => ({
  at,
  demand: 0,
  starting: 0,
  idle: 0,
  busy: 0,
  draining: 0,
  queued: 0,
  cost: 0,
  ...more,
});
const SAMPLES = [
  sample("2026-01-01T00:00:00Z", { starting: 1, busy: 2, cost: 3, demand: 7, ceiling: 4 }),
  sample("2026-01-01T00:00:10Z", { idle: 1, draining: 1, cost: 2 }),
];
const TO = "2026-01-01T00:01:00Z";

it("extends each sample to the next, and the last to the end", () => {
  const columns = columnsOf(SAMPLES, TO);
  expect(columns.at.map((at) => at - (columns.at[0] ?? 0))).toEqual([0, 10, 60]);
  expect([columns.busy, columns.idle]).toEqual([
    [2, 0, 0],
    [0, 1, 1],
  ]);
  expect(columns.demand).toEqual([7, 0, 0]);
  expect(columns.ceiling).toEqual([4, null, null]);
  expect(columnsOf([], TO).at).toEqual([]);
});

it("sums the cost over the duration of each sample", () => {
  expect(costOf(SAMPLES, TO)).toBe(3 * 10 + 2 * 50);
  expect(costOf([], TO)).toBe(0);
});

it("clips only values far above the workers", () => {
  const top = (more: Partial<Sample>) => topOf(columnsOf([sample(TO, more)], TO));
  expect(top({ busy: 2, ceiling: 4, demand: 7 })).toBeCloseTo(7.7);
  expect(top({ busy: 2, ceiling: 4, zero_queue: 100, demand: 500 })).toBeCloseTo(13.2);
  expect(top({})).toBeCloseTo(1.1);
  const peak = (more: Partial<Sample>) => peakOf(columnsOf([sample(TO, more)], TO));
  expect(peak({ busy: 2, ceiling: 4, zero_queue: 100, demand: 500 })).toBe(500);
});
