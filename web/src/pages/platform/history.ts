// Converts the samples of a pool to chart columns and sums their cost.

import type { Sample } from "./queries";

export interface Columns {
  /** Seconds since 1970. */
  at: number[];
  // Null where no sample is valid: the server was down.
  demand: (number | null)[];
  starting: (number | null)[];
  idle: (number | null)[];
  busy: (number | null)[];
  draining: (number | null)[];
  ceiling: (number | null)[];
  hold: (number | null)[];
  zeroQueue: (number | null)[];
  queued: (number | null)[];
}

/** The period of the samples. */
export interface Period {
  from: string;
  to: string;
}

/** Number of parts of a period, of which each has one sample at most (`CAPACITY_POINTS_MAX` of the server). */
const PARTS = 500;
/** A running server takes a sample a minute or more often. */
const VALID_MS_MIN = 120_000;

/**
 * The longest time for which a sample is valid, in milliseconds. Where the next one is later, the server was down, and
 * nothing is known of the time between them.
 */
function validMs({ from, to }: Period): number {
  return Math.max(VALID_MS_MIN, (2 * (Date.parse(to) - Date.parse(from))) / PARTS);
}

/** The end of each sample, in milliseconds since 1970: the next sample, or the end of its validity. */
function endsOf(samples: readonly Sample[], period: Period): number[] {
  const valid = validMs(period);
  return samples.map(({ at }, place) =>
    Math.min(Date.parse(samples[place + 1]?.at ?? period.to), Date.parse(at) + valid),
  );
}

/** Each sample is drawn to its end. A gap follows it if the next sample, or the end of the period, is later. */
export function columnsOf(samples: readonly Sample[], period: Period): Columns {
  const ends = endsOf(samples, period);
  const points = samples.flatMap((sample, place): { ms: number; of: Sample | null }[] => {
    const [start, end] = [Date.parse(sample.at), ends[place] ?? 0];
    const point = { ms: start, of: sample };
    const next = samples[place + 1];
    const follows = Date.parse(next?.at ?? period.to);
    if (end < follows) {
      const gap = { ms: end + 1, of: null };
      // The axis goes on to the end of the period.
      const rest = next || end + 1 >= follows ? [] : [{ ms: follows, of: null }];
      return [point, { ms: end, of: sample }, gap, ...rest];
    }
    return next ? [point] : [point, { ms: end, of: sample }];
  });
  const column = (value: (sample: Sample) => number | null | undefined) =>
    points.map(({ of }) => (of ? (value(of) ?? null) : null));
  return {
    at: points.map(({ ms }) => ms / 1000),
    demand: column((sample) => sample.demand),
    starting: column((sample) => sample.starting),
    idle: column((sample) => sample.idle),
    busy: column((sample) => sample.busy),
    draining: column((sample) => sample.draining),
    ceiling: column((sample) => sample.ceiling),
    hold: column((sample) => sample.hold),
    zeroQueue: column((sample) => sample.zero_queue),
    queued: column((sample) => sample.queued),
  };
}

/** The workers that are not busy, by state, each drawn on top of those before it. */
export function aboveBusy({ busy, idle, starting, draining }: Columns) {
  let below: readonly (number | null)[] = busy;
  return Object.entries({ Idle: idle, Starting: starting, Draining: draining }).map(
    ([label, values]) => {
      const drawn = values.map((value, at) => (value === null ? null : value + (below[at] ?? 0)));
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
function workersOf(columns: Columns): readonly (number | null)[] {
  return aboveBusy(columns).at(-1)?.drawn ?? columns.busy;
}

function most(...lines: (readonly (number | null)[])[]): number {
  return Math.max(1, ...lines.flat().map((value) => value ?? 0));
}

/** Cost of the workers while samples are valid. */
export function costOf(samples: readonly Sample[], period: Period): number {
  const ends = endsOf(samples, period);
  return samples.reduce((sum, sample, at) => {
    const ms = (ends[at] ?? 0) - Date.parse(sample.at);
    return sum + (sample.cost * Math.max(0, ms)) / 1000;
  }, 0);
}
