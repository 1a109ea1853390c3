// How a live batch stands against T + D.

import type { Schemas } from "../../../api/client";
import { span } from "../../../parts/format";

export interface Standing {
  words: string;
  note?: string;
  late: boolean;
}

/** Null while no request has come: nothing is due yet. */
export function standing(
  batch: Pick<Schemas["LiveBatch"], "due_at" | "estimated_done_at">,
  nowMs: number,
): Standing | null {
  if (!batch.due_at) return null;
  const left = Date.parse(batch.due_at) - nowMs;
  if (left < 0) return { words: `${whole(-left)} late`, late: true };
  const over = batch.estimated_done_at
    ? Date.parse(batch.estimated_done_at) - Date.parse(batch.due_at)
    : 0;
  if (over > 0) return { words: whole(left), note: `would end ${span(over)} late`, late: true };
  return { words: whole(left), late: false };
}

/** What counts down needs no parts of a second. */
function whole(ms: number): string {
  return span(Math.max(Math.round(ms / 1000), 0) * 1000);
}
