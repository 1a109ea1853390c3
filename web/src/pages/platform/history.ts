// Converts the samples of a pool to chart columns and sums their cost.

import type { Sample } from "./queries";

export interface Columns {
  /** Seconds since 1970. */
  at: number[];
  demand: number[];
  starting: number[];
  idle: number[];
  busy: number[];
  draining: number[];
  ceiling: (number | null)[];
  hold: (number | null)[];
  zeroQueue: (number | null)[];
  queued: number[];
}

/** Each sample is valid until the next one, the last one until `to`. */
export function columnsOf(samples: readonly Sample[], to: string): Columns {
  const last = samples.at(-1);
  const all = last ? [...samples, { ...last, at: to }] : [];
  return {
    at: all.map((sample) => Date.parse(sample.at) / 1000),
    demand: all.map((sample) => sample.demand),
    starting: all.map((sample) => sample.starting),
    idle: all.map((sample) => sample.idle),
    busy: all.map((sample) => sample.busy),
    draining: all.map((sample) => sample.draining),
    ceiling: all.map((sample) => sample.ceiling ?? null),
    hold: all.map((sample) => sample.hold ?? null),
    zeroQueue: all.map((sample) => sample.zero_queue ?? null),
    queued: all.map((sample) => sample.queued),
  };
}

/** The workers that are not busy, by state, each drawn on top of those before it. */
export function aboveBusy({ busy, idle, starting, draining }: Columns) {
  let below: readonly number[] = busy;
  return Object.entries({ Idle: idle, Starting: starting, Draining: draining }).map(
    ([label, values]) => {
      const drawn = values.map((value, at) => value + (below[at] ?? 0));
      below = drawn;
      return { label, values, drawn };
    },
  );
}

const ABOVE_MOST = 3;

/**
 * Upper end of the axis. Values far above the workers are clipped, so that worker lines are not
 * flat.
 */
export function topOf(columns: Columns): number {
  const { ceiling, demand, zeroQueue } = columns;
  const workers = most(workersOf(columns), ceiling);
  return Math.min(most(demand, zeroQueue, [workers]), workers * ABOVE_MOST) * 1.1;
}

/** The highest value of all lines of the chart, clipped or not. */
export function peakOf(columns: Columns): number {
  const { ceiling, demand, zeroQueue } = columns;
  return most(workersOf(columns), ceiling, demand, zeroQueue);
}

/** All workers, in whatever state. */
function workersOf(columns: Columns): readonly number[] {
  return aboveBusy(columns).at(-1)?.drawn ?? columns.busy;
}

function most(...lines: (readonly (number | null)[])[]): number {
  return Math.max(1, ...lines.flat().map((value) => value ?? 0));
}

/** Cost of the workers from the first sample to `to`. */
export function costOf(samples: readonly Sample[], to: string): number {
  return samples.reduce((sum, sample, at) => {
    const until = Date.parse(samples[at + 1]?.at ?? to);
    return sum + (sample.cost * Math.max(0, until - Date.parse(sample.at))) / 1000;
  }, 0);
}
