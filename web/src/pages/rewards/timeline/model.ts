// The model of the timeline: the requests of a batch in columns of numbers. Times are milliseconds
// from the first request of the batch; NaN means none.

export type OutcomeKind = "open" | "scored" | "timed_out" | "error";
export type Order = "arrival" | "end";

export interface StageColumns {
  name: string;
  pool: string;
  /**
   * Times at which a request was ready for the stage, was leased to a worker, and left the stage.
   */
  queued: Float64Array;
  started: Float64Array;
  ended: Float64Array;
  attempts: readonly (number | null)[];
}

export interface Timeline {
  size: number;
  keys: readonly string[];
  kinds: readonly OutcomeKind[];
  verdicts: readonly (string | null)[];
  rewards: readonly (number | null)[];
  arrived: Float64Array;
  finished: Float64Array;
  stages: readonly StageColumns[];
  /** Index of the request that determines T, and of the one that ended last; -1 if none. */
  critical: number;
  last: number;
  /** End of the time axis if all requests have ended. */
  endMs: number;
}

/** A vertical line. */
export interface Line {
  atMs: number;
  label: string;
  tone: "ink" | "late" | "mark";
  dashed: boolean;
}

/** Requests from the top row down. When ordered by end, unfinished ones come last. */
export function rowsBy(timeline: Timeline, order: Order): Uint32Array {
  const places = new Float64Array(timeline.size);
  for (let at = 0; at < timeline.size; at += 1) {
    const place = (order === "end" ? timeline.finished[at] : timeline.arrived[at]) ?? 0;
    places[at] = Number.isNaN(place) ? Number.POSITIVE_INFINITY : place;
  }
  const rows = Uint32Array.from({ length: timeline.size }, (_, at) => at);
  return rows.sort((one, other) => {
    const [a, b] = [places[one] ?? 0, places[other] ?? 0];
    return a === b ? one - other : a - b;
  });
}

/**
 * The number of requests that were in progress at any moment of each of `bins` equal parts of the time from 0 to
 * `toMs`.
 */
export function inProgress(
  timeline: Timeline,
  nowMs: number,
  toMs: number,
  bins: number,
): Uint32Array {
  const changes = new Int32Array(bins + 1);
  const bin = (ms: number) => Math.min(Math.max(Math.floor((ms / toMs) * bins), 0), bins - 1);
  for (let at = 0; at < timeline.size; at += 1) {
    const from = timeline.arrived[at] ?? 0;
    const finished = timeline.finished[at] ?? Number.NaN;
    const first = bin(from);
    const last = bin(Math.max(Number.isNaN(finished) ? nowMs : finished, from));
    changes[first] = (changes[first] ?? 0) + 1;
    changes[last + 1] = (changes[last + 1] ?? 0) - 1;
  }
  let sum = 0;
  return Uint32Array.from({ length: bins }, (_, at) => {
    sum += changes[at] ?? 0;
    return sum;
  });
}

/** End of the time axis: the end of the batch, now, or the last line. */
export function lastMs(timeline: Timeline, nowMs: number, lines: readonly Line[]): number {
  let end = Math.max(timeline.endMs, Number.isNaN(nowMs) ? 0 : nowMs);
  for (const line of lines) if (Number.isFinite(line.atMs)) end = Math.max(end, line.atMs);
  return Math.max(end * 1.01, 1);
}
