// Converts the stages of a request to spans on one time line.

import type { Schemas } from "../../../api/client";

type Span = Schemas["Span"];

export interface StageSpan {
  stage: string;
  pool: string;
  attempts: number;
  timeoutMs: number;
  waitedMs: number;
  ranMs: number;
  /** Positions on the time line, from 0 to 1. */
  queuedAt: number;
  startedAt: number;
  endedAt: number;
}

/** Milliseconds with microsecond precision, which JavaScript dates lack. */
export function between(from: string, to: string): number {
  const whole = Math.floor(Date.parse(to) / 1000) - Math.floor(Date.parse(from) / 1000);
  return whole * 1000 + fraction(to) - fraction(from);
}

/** Fraction of the second, in milliseconds. */
function fraction(at: string): number {
  const digits = /\.(\d+)/.exec(at)?.[1];
  return digits ? Number(`0.${digits}`) * 1000 : 0;
}

export function stageSpansOf(arrivedAt: string, spans: readonly Span[]): StageSpan[] {
  const last = spans.at(-1);
  if (!last) return [];
  const whole = Math.max(between(arrivedAt, last.ended_at), 1e-6);
  const place = (at: string) => Math.min(Math.max(between(arrivedAt, at) / whole, 0), 1);
  return spans.map((span) => ({
    stage: span.stage,
    pool: span.pool,
    attempts: span.attempts,
    timeoutMs: span.timeout_ms,
    waitedMs: between(span.queued_at, span.started_at),
    ranMs: between(span.started_at, span.ended_at),
    queuedAt: place(span.queued_at),
    startedAt: place(span.started_at),
    endedAt: place(span.ended_at),
  }));
}
