// Where a batch should end and will: T, T + D, the expected end, from its first request on.

import type { Schemas } from "../../../api/client";

type Answered = Schemas["Timeline"];

export interface Targets {
  earliestMs: number | null;
  toleratedMs: number | null;
  estimatedMs: number | null;
}

/**
 * Of a batch that lives the timeline knows T only as far as finished requests tell; what the stream of
 * events says of it counts in those that run, and those still to come.
 */
export function targetsOf(
  answered: Pick<
    Answered,
    "first_arrival_at" | "earliest_end_ms" | "tolerated_end_ms" | "estimated_end_ms"
  >,
  live: Pick<Schemas["LiveBatch"], "earliest_end_at" | "due_at" | "estimated_done_at"> | undefined,
): Targets {
  const { first_arrival_at } = answered;
  const told = {
    earliestMs: answered.earliest_end_ms ?? null,
    toleratedMs: answered.tolerated_end_ms ?? null,
    estimatedMs: answered.estimated_end_ms ?? null,
  };
  if (!live || !first_arrival_at) return told;
  const from = Date.parse(first_arrival_at);
  const since = (at: string | null | undefined) => (at ? Date.parse(at) - from : null);
  return {
    earliestMs: since(live.earliest_end_at) ?? told.earliestMs,
    toleratedMs: since(live.due_at) ?? told.toleratedMs,
    estimatedMs: since(live.estimated_done_at) ?? told.estimatedMs,
  };
}
