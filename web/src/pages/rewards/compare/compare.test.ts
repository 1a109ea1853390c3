import { expect, it } from "vitest";
import type { Iterations } from "../runs/fold";
import { AXES, compared, countsFromFirst, metricOf, smoothed } from "./compare";

const counts = (submitted: number, error = 0) => ({
  submitted,
  scored: submitted - error,
  timed_out: 0,
  error,
  shared: 0,
});

function run(iteration: number[], mean: (number | null)[], minute = 0): Iterations {
  return {
    iteration,
    mean,
    announced_at: iteration.map((_, at) => new Date((minute + at) * 60_000).toISOString()),
    counts: iteration.map(() => counts(10, 1)),
    worker_seconds: iteration.map((at) => (at === 1 ? {} : { cpu: 1, gpu: 2 })),
  } as unknown as Iterations;
}

it("puts runs on one axis, and the last value of a repeated iteration counts", () => {
  const one = run([1, 2, 2, 4], [0.1, 0.2, 0.3, null]);
  const other = run([2, 3], [0.5, 0.6], 10);
  const plain = { metric: "mean", smoothing: 0 } as const;
  expect(compared([one, other], { ...plain, axis: "iteration" })).toEqual({
    x: [1, 2, 3, 4],
    lines: [
      [0.1, 0.3, null, null],
      [null, 0.5, 0.6, null],
    ],
  });
  expect(compared([one, other], { ...plain, axis: "requests" }).x).toEqual([10, 20, 30, 40]);
  expect(compared([one, other], { ...plain, axis: "elapsed" }).x).toEqual([0, 60, 120, 180]);
  expect(compared([one, other], { ...plain, axis: "time" }).x).toHaveLength(6);
  expect(compared([], { ...plain, axis: "time" })).toEqual({ x: [], lines: [] });
});

it("smooths without drawing the first values to zero, and invents no value", () => {
  expect(smoothed([1, null, 1], 0.9)).toEqual([1, null, 1]);
  const [first, second] = smoothed([0, 1], 0.5);
  expect([first, second]).toEqual([0, 0.5 / 0.75]);
  expect(smoothed([3, 4], 0)).toEqual([3, 4]);
});

it("has no share of nothing", () => {
  const one = run([1, 2], [null, null]);
  expect(metricOf(one, "failed")).toEqual([0.1, 0.1]);
  expect(metricOf({ ...one, counts: [counts(0), counts(4)] }, "failed")).toEqual([null, 0]);
  expect(metricOf(one, "worker-time")).toEqual([null, 3000]);
});

it("has two axes that need the first batch of a run", () => {
  expect(AXES.filter(countsFromFirst)).toEqual(["requests", "elapsed"]);
});
