// Times of a batch from its first request: ideal end (T), deadline (T + D), expected end.

import type { Schemas } from "../../../api/client";

type TimelineResponse = Schemas["Timeline"];

export interface Targets {
  earliestMs: number | null;
  toleratedMs: number | null;
  estimatedMs: number | null;
}

/**
 * The timeline of a live batch derives T from its finished requests only. The live stream also
 * considers requests that run or are still to come, so its times are preferred.
 */
export function targetsOf(
  answered: Pick<
    TimelineResponse,
    "first_arrival_at" | "earliest_end_ms" | "tolerated_end_ms" | "estimated_end_ms"
  >,
  live: Pick<Schemas["LiveBatch"], "earliest_end_at" | "due_at" | "estimated_done_at"> | undefined,
): Targets {
  const { first_arrival_at } = answered;
  const stored = {
    earliestMs: answered.earliest_end_ms ?? null,
    toleratedMs: answered.tolerated_end_ms ?? null,
    estimatedMs: answered.estimated_end_ms ?? null,
  };
  if (!live || !first_arrival_at) return stored;
  const from = Date.parse(first_arrival_at);
  const since = (at: string | null | undefined) => (at ? Date.parse(at) - from : null);
  return {
    earliestMs: since(live.earliest_end_at) ?? stored.earliestMs,
    toleratedMs: since(live.due_at) ?? stored.toleratedMs,
    estimatedMs: since(live.estimated_done_at) ?? stored.estimatedMs,
  };
}
