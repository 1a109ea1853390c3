// Time range in the URL: a period up to now, or from and to.

import { textOf } from "../../parts/search";

export interface TimeRange {
  /** Period up to now: one of `RANGES`. */
  within?: string;
  /** Absolute times, used if `within` is absent. */
  from?: string;
  to?: string;
}

const HOUR_MS = 3_600_000;

export const RANGES: { value: string; label: string; ms: number }[] = [
  { value: "1h", label: "Last hour", ms: HOUR_MS },
  { value: "24h", label: "Last 24 hours", ms: 24 * HOUR_MS },
  { value: "7d", label: "Last 7 days", ms: 168 * HOUR_MS },
  { value: "30d", label: "Last 30 days", ms: 720 * HOUR_MS },
];

function momentOf(search: Record<string, unknown>, name: string): string | undefined {
  const text = textOf(search, name);
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

export function rangeOf(search: Record<string, unknown>): {
  within: string | undefined;
  from: string | undefined;
  to: string | undefined;
} {
  const within = textOf(search, "within");
  return {
    within: RANGES.some(({ value }) => value === within) ? within : undefined,
    from: momentOf(search, "from"),
    to: momentOf(search, "to"),
  };
}

/** Bounds for the query to the server. */
export function boundsOf(range: TimeRange, nowMs: number): { from?: string; to?: string } {
  const ms = RANGES.find(({ value }) => value === range.within)?.ms;
  if (ms !== undefined) return { from: new Date(nowMs - ms).toISOString() };
  return { ...(range.from ? { from: range.from } : {}), ...(range.to ? { to: range.to } : {}) };
}

/** Formats a time for `<input type="datetime-local">`, in the browser's time zone. */
export function localInput(at: string | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
