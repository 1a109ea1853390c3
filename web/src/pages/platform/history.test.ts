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
const MINUTE = { from: "2026-01-01T00:00:00Z", to: TO };

it("extends each sample to the next, and the last to the end", () => {
  const columns = columnsOf(SAMPLES, MINUTE);
  expect(columns.at.map((at) => at - (columns.at[0] ?? 0))).toEqual([0, 10, 60]);
  expect([columns.busy, columns.idle]).toEqual([
    [2, 0, 0],
    [0, 1, 1],
  ]);
  expect(columns.demand).toEqual([7, 0, 0]);
  expect(columns.ceiling).toEqual([4, null, null]);
  expect(columnsOf([], MINUTE).at).toEqual([]);
});

it("sums the cost over the duration of each sample", () => {
  expect(costOf(SAMPLES, MINUTE)).toBe(3 * 10 + 2 * 50);
  expect(costOf([], MINUTE)).toBe(0);
});

it("draws and charges nothing while the server was down", () => {
  const samples = [
    sample("2026-01-01T00:00:00Z", { busy: 2, cost: 3 }),
    sample("2026-01-01T00:10:00Z", { busy: 1, cost: 2 }),
  ];
  const hour = { from: "2026-01-01T00:00:00Z", to: "2026-01-01T01:00:00Z" };
  const { at, busy, ceiling } = columnsOf(samples, hour);
  expect(at.map((second) => Math.round((second - (at[0] ?? 0)) * 1000) / 1000)).toEqual([
    0, 120, 120.001, 600, 720, 720.001, 3600,
  ]);
  expect(busy).toEqual([2, 2, null, 1, 1, null, null]);
  expect(ceiling).toEqual(Array(7).fill(null));
  expect(costOf(samples, hour)).toBe(3 * 120 + 2 * 120);
  const week = { from: "2025-12-25T01:00:00Z", to: "2026-01-01T01:00:00Z" };
  // The samples of a week are 20 minutes apart.
  expect(columnsOf(samples, week).busy).toEqual([2, 1, 1, null, null]);
  expect(costOf(samples, week)).toBeCloseTo(3 * 600 + (2 * 2 * (7 * 86_400)) / 500);
});

it("clips only values far above the workers", () => {
  const top = (more: Partial<Sample>) => topOf(columnsOf([sample(TO, more)], MINUTE));
  expect(top({ busy: 2, ceiling: 4, demand: 7 })).toBeCloseTo(7.7);
  expect(top({ busy: 2, ceiling: 4, zero_queue: 100, demand: 500 })).toBeCloseTo(13.2);
  expect(top({})).toBeCloseTo(1.1);
  const peak = (more: Partial<Sample>) => peakOf(columnsOf([sample(TO, more)], MINUTE));
  expect(peak({ busy: 2, ceiling: 4, zero_queue: 100, demand: 500 })).toBe(500);
});
