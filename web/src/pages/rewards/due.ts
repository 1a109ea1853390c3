// Compares a live batch with its deadline (T + D).

import type { Schemas } from "../../api/client";
import { span } from "../../parts/format";

export interface DeadlineStatus {
  text: string;
  note?: string;
  late: boolean;
  /** Whether the trainer has sent nothing for minutes. */
  silent?: boolean;
}

/** The time after which a trainer that sends nothing counts as silent, as in the server's incidents. */
const SILENT_MS = 300_000;

type Live = Schemas["LiveBatch"];

/** All requests have ended and the batch is open: the delay is the trainer's, not the service's. */
export function waitsForRequests({
  state,
  queued,
  running,
}: Pick<Live, "state" | "queued" | "running">): boolean {
  return state === "open" && queued === 0 && running === 0;
}

/** Null while the batch has no deadline. */
export function deadlineStatus(
  batch: Pick<
    Live,
    "state" | "queued" | "running" | "due_at" | "estimated_done_at" | "last_request_at"
  >,
  nowMs: number,
): DeadlineStatus | null {
  if (waitsForRequests(batch)) return waiting(batch.last_request_at, nowMs);
  if (!batch.due_at) return null;
  const left = Date.parse(batch.due_at) - nowMs;
  if (left < 0) return { text: `${whole(-left)} late`, late: true };
  const over = batch.estimated_done_at
    ? Date.parse(batch.estimated_done_at) - Date.parse(batch.due_at)
    : 0;
  if (over > 0) return { text: whole(left), note: `expected ${span(over)} late`, late: true };
  return { text: whole(left), late: false };
}

function waiting(last: string | null | undefined, nowMs: number): DeadlineStatus {
  const silence = last ? nowMs - Date.parse(last) : 0;
  if (silence < SILENT_MS) return { text: "waiting for requests", late: false };
  const minutes = Math.floor(silence / 60_000) * 60_000;
  return { text: `no request for ${span(minutes)}`, late: false, silent: true };
}

/** Rounds to whole seconds for a countdown. */
function whole(ms: number): string {
  return span(Math.max(Math.round(ms / 1000), 0) * 1000);
}
