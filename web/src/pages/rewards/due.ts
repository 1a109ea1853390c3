// How a live batch stands against T + D.

import type { Schemas } from "../../api/client";
import { span } from "../../parts/format";

export interface Standing {
  words: string;
  note?: string;
  late: boolean;
}

type Live = Schemas["LiveBatch"];

/** All that came has ended, and more may come: whatever is due then is not the service's to end. */
export function waitsForRequests({
  state,
  queued,
  running,
}: Pick<Live, "state" | "queued" | "running">): boolean {
  return state === "open" && queued === 0 && running === 0;
}

/** Null while nothing is due yet. */
export function standing(
  batch: Pick<Live, "state" | "queued" | "running" | "due_at" | "estimated_done_at">,
  nowMs: number,
): Standing | null {
  if (waitsForRequests(batch)) return { words: "waits for requests", late: false };
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
