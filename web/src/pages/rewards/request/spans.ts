// The stages of a request as pieces of one line of time.

import type { Schemas } from "../../../api/client";

type Span = Schemas["Span"];

export interface Piece {
  stage: string;
  pool: string;
  attempts: number;
  timeoutMs: number;
  waitedMs: number;
  ranMs: number;
  /** Places on the line, as shares of the whole. */
  queuedAt: number;
  startedAt: number;
  endedAt: number;
}

/** Milliseconds, to the microsecond: dates of JavaScript know no finer than one. */
export function between(from: string, to: string): number {
  const whole = Math.floor(Date.parse(to) / 1000) - Math.floor(Date.parse(from) / 1000);
  return whole * 1000 + fraction(to) - fraction(from);
}

/** The part of a second, in milliseconds. */
function fraction(at: string): number {
  const digits = /\.(\d+)/.exec(at)?.[1];
  return digits ? Number(`0.${digits}`) * 1000 : 0;
}

export function piecesOf(arrivedAt: string, spans: readonly Span[]): Piece[] {
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
