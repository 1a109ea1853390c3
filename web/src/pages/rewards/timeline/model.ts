// A batch's requests as the timeline knows them: columns of numbers, in milliseconds from the
// batch's first request, NaN where there is none.

export type Kind = "open" | "scored" | "timed_out" | "error";
export type Order = "arrival" | "end";

export interface StageColumns {
  name: string;
  pool: string;
  /** When a request became ready for the stage, was granted to a worker, and left the stage. */
  queued: Float64Array;
  started: Float64Array;
  ended: Float64Array;
  attempts: readonly (number | null)[];
}

export interface Timeline {
  size: number;
  keys: readonly string[];
  kinds: readonly Kind[];
  verdicts: readonly (string | null)[];
  rewards: readonly (number | null)[];
  arrived: Float64Array;
  finished: Float64Array;
  stages: readonly StageColumns[];
  /** The request whose own time is T, and the one that ended last; -1 where there is none. */
  critical: number;
  last: number;
  /** Where the picture ends, if nothing is going on any more. */
  endMs: number;
}

/** A vertical line. */
export interface Line {
  atMs: number;
  label: string;
  tone: "ink" | "late" | "mark";
  dashed: boolean;
}

/** Requests from the top row down. Those on their way come last when rows are ordered by end. */
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

/** How far the picture goes: to its end, or to now while it goes on. */
export function reach(timeline: Timeline, nowMs: number, lines: readonly Line[]): number {
  let end = Math.max(timeline.endMs, Number.isNaN(nowMs) ? 0 : nowMs);
  for (const line of lines) if (Number.isFinite(line.atMs)) end = Math.max(end, line.atMs);
  return Math.max(end * 1.01, 1);
}
