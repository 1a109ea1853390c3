// Formats of numbers, times and durations, used on all pages.

const NUMBER = new Intl.NumberFormat("en-GB");
const COST = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });
const SMALL_COST = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 4 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Placeholder for a missing value. */
export const NONE = "–";

export function count(value: number | null | undefined): string {
  return value == null ? NONE : NUMBER.format(value);
}

/** A cost in the unit of the configuration, to two decimals; below 1 to four significant digits. */
export function cost(value: number): string {
  return (Math.abs(value) < 1 ? SMALL_COST : COST).format(value);
}

/** Formats whole numbers for an axis of counts; values between them get no label. */
export function whole(value: number): string {
  return Number.isInteger(value) ? count(value) : "";
}

/** Formats a reward to three significant digits. */
export function reward(value: number | null | undefined): string {
  if (value == null) return NONE;
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/** Ticks as 0, 0.5 and 1 instead of 0, 0.500 and 1. */
export function withoutZeros(tick: string): string {
  return /^-?\d+\.\d+$/.test(tick) ? String(Number(tick)) : tick;
}

/** Formats an advantage with its sign. */
export function signed(value: number | null | undefined): string {
  if (value == null) return NONE;
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
}

export function percent(share: number | null | undefined): string {
  return share == null ? NONE : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** Formats a duration: `0.8 ms`, `340 ms`, `2.41 s`, `3 min 5 s`, `2 h 4 min`. */
export function span(ms: number | null | undefined): string {
  if (ms == null) return NONE;
  if (ms < 0) return `−${span(-ms)}`;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 59_950) return `${Number((ms / 1000).toPrecision(3))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return two(seconds, 60, "min", 1, "s");
  if (seconds < 172_800) return two(seconds, 3600, "h", 60, "min");
  return two(seconds, 86_400, "d", 3600, "h");
}

function two(seconds: number, large: number, largeUnit: string, small: number, unit: string) {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeUnit}${rest ? ` ${rest} ${unit}` : ""}`;
}

export function bytes(value: number | null | undefined): string {
  if (value == null) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit]}`;
}

export function clock(at: string | null | undefined): string {
  return at ? CLOCK.format(new Date(at)) : NONE;
}

export function moment(at: string | null | undefined): string {
  return at ? MOMENT.format(new Date(at)) : NONE;
}

/** Formats a time relative to now: `12 s ago`, `in 3 min`. */
export function ago(at: string | null | undefined, now: number = Date.now()): string {
  if (!at) return NONE;
  const ms = now - new Date(at).getTime();
  if (Math.abs(ms) < 1000) return "now";
  const rough = span(Math.round(Math.abs(ms) / 1000) * 1000);
  return ms > 0 ? `${rough} ago` : `in ${rough}`;
}
