// Lines of several runs over one axis, smoothed.

import type { Iterations } from "../runs/fold";

/** The most runs of one comparison, as many as there are colours. */
export const RUNS_MAX = 8;

export const AXES = ["iteration", "requests", "elapsed", "time"] as const;
export type Axis = (typeof AXES)[number];

export const METRICS = [
  "mean",
  "std",
  "zero-variance",
  "failed",
  "extra-delay",
  "worker-time",
] as const;
export type Metric = (typeof METRICS)[number];

/** The value of each iteration; null where it is not known. */
export function metricOf(iterations: Iterations, metric: Metric): (number | null)[] {
  switch (metric) {
    case "mean":
      return iterations.mean;
    case "std":
      return iterations.std;
    case "zero-variance":
      return iterations.zero_variance_share;
    case "extra-delay":
      return iterations.extra_delay_ms;
    case "worker-time":
      return iterations.worker_seconds.map((pools) => {
        const seconds = Object.values(pools);
        return seconds.length === 0 ? null : seconds.reduce((sum, one) => sum + one, 0) * 1000;
      });
    case "failed":
      return iterations.counts.map(({ scored, timed_out, error }) => {
        const finished = scored + timed_out + error;
        return finished === 0 ? null : error / finished;
      });
  }
}

/** Whether the axis counts from the first batch, so that it has no place for a run whose first batches are not shown. */
export function countsFromFirst(axis: Axis): boolean {
  return axis === "requests" || axis === "elapsed";
}

/** The place of each iteration on the axis: a number, requests, seconds since the first, or seconds since 1970. */
export function placesOf(iterations: Iterations, axis: Axis): number[] {
  const began = iterations.announced_at.map((at) => Date.parse(at) / 1000);
  switch (axis) {
    case "iteration":
      return iterations.iteration;
    case "time":
      return began;
    case "elapsed": {
      const first = Math.min(...began);
      return began.map((at) => at - first);
    }
    case "requests": {
      let requests = 0;
      return iterations.counts.map(({ submitted }) => {
        requests += submitted;
        return requests;
      });
    }
  }
}

/**
 * An exponential moving average: `share` of each value comes from those before it. It is divided by the sum
 * of its weights, so that the first values are not drawn to zero. Unknown values stay unknown.
 */
export function smoothed(values: readonly (number | null)[], share: number): (number | null)[] {
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * share + value * (1 - share);
    weight = weight * share + (1 - share);
    return sum / weight;
  });
}

export interface Compared {
  x: number[];
  /** One line a run, with null where the run has no point. */
  lines: (number | null)[][];
}

/** Puts runs on one axis. A resumed run may repeat a place, whose last value counts. */
export function compared(
  runs: readonly Iterations[],
  { metric, axis, smoothing }: { metric: Metric; axis: Axis; smoothing: number },
): Compared {
  const points = runs.map((iterations) => {
    const values = smoothed(metricOf(iterations, metric), smoothing);
    return new Map(placesOf(iterations, axis).map((place, at) => [place, values[at] ?? null]));
  });
  const x = [...new Set(points.flatMap((line) => [...line.keys()]))].sort((a, b) => a - b);
  return { x, lines: points.map((line) => x.map((place) => line.get(place) ?? null)) };
}
