// Converts the answer of `GET /v1/batches/{id}/timeline` to the model of the timeline.

import type { Schemas } from "../../../api/client";
import type { TableData } from "../../../parts/Figure";
import { NONE, reward, span } from "../../../parts/format";
import type { Targets } from "../batch/targets";
import type { Line, OutcomeKind, Timeline } from "./model";

type TimelineResponse = Schemas["Timeline"];

const KIND_LABELS: Record<OutcomeKind, string> = {
  open: "in progress",
  scored: "scored",
  timed_out: "timed out",
  error: "error",
};

function numbers(values: readonly (number | null)[]): Float64Array {
  return Float64Array.from(values, (value) => value ?? Number.NaN);
}

function kindOf(kind: string | null): OutcomeKind {
  return kind === "scored" || kind === "timed_out" || kind === "error" ? kind : "open";
}

export function timelineOf(answered: TimelineResponse): Timeline {
  const { requests, stages } = answered;
  const place = (seq: number | null | undefined) => (seq == null ? -1 : requests.seq.indexOf(seq));
  return {
    size: requests.seq.length,
    keys: requests.key,
    kinds: requests.kind.map(kindOf),
    verdicts: requests.verdict,
    rewards: requests.reward,
    arrived: Float64Array.from(requests.arrived_ms),
    finished: numbers(requests.finished_ms),
    stages: stages.flatMap(({ name, pool }, at) => {
      const columns = requests.stages[at];
      if (!columns) return [];
      return {
        name,
        pool,
        queued: numbers(columns.queued_ms),
        started: numbers(columns.started_ms),
        ended: numbers(columns.ended_ms),
        attempts: columns.attempts,
      };
    }),
    critical: place(answered.critical_seq),
    last: place(answered.last_seq),
    endMs: answered.ended_ms ?? answered.as_of_ms,
  };
}

/**
 * Lines for the ideal end (T), the deadline (T + D) and the actual or expected end, ordered by
 * time.
 */
export function linesOf(targets: Targets, endedMs: number | null): Line[] {
  const lines: Line[] = [];
  const add = (atMs: number | null, label: string, tone: Line["tone"], dashed: boolean) => {
    if (atMs !== null) lines.push({ atMs, label: `${label} ${span(atMs)}`, tone, dashed });
  };
  add(targets.earliestMs, "ideal end", "ink", true);
  add(targets.toleratedMs, "deadline", "late", true);
  add(endedMs, "end", "ink", false);
  if (endedMs === null) add(targets.estimatedMs, "expected end", "mark", true);
  return lines.sort((one, other) => one.atMs - other.atMs);
}

/** One request as a line of text. */
export function describeRequest(timeline: Timeline, at: number): string {
  const kind = timeline.kinds[at] ?? "open";
  const value = timeline.rewards[at];
  const what = `${KIND_LABELS[kind]}${value == null ? "" : ` ${reward(value)}`}`;
  const verdict = timeline.verdicts[at];
  const parts = [
    timeline.keys[at] ?? "",
    verdict && verdict !== kind ? `${what}, ${verdict}` : what,
    `arrived ${span(timeline.arrived[at])}`,
  ];
  if (at === timeline.critical) parts.splice(1, 0, "critical");
  if (at === timeline.last) parts.splice(1, 0, "ended last");
  for (const stage of timeline.stages) {
    const [queued, started, ended] = [stage.queued[at], stage.started[at], stage.ended[at]];
    if (queued === undefined || Number.isNaN(queued)) continue;
    if (started === undefined || ended === undefined || Number.isNaN(ended)) {
      parts.push(`${stage.name}: queued or running since ${span(queued)}`);
      continue;
    }
    const tries = stage.attempts[at] ?? 1;
    const attempts = tries > 1 ? `, ${tries} attempts` : "";
    parts.push(
      `${stage.name}: waited ${span(started - queued)}, ran ${span(ended - started)}${attempts}`,
    );
  }
  return parts.join(" · ");
}

/** The same data as a table, in the order of admission. */
export function tableOf(timeline: Timeline): TableData {
  const { stages } = timeline;
  const columns = ["Request", "Outcome", "Verdict", "Reward", "Arrived", "Ended"];
  for (const { name } of stages) columns.push(`${name}: waited`, `${name}: ran`);
  const rows = timeline.keys.map((key, at) => [
    key,
    KIND_LABELS[timeline.kinds[at] ?? "open"],
    timeline.verdicts[at] ?? NONE,
    timeline.rewards[at] ?? NONE,
    span(timeline.arrived[at]),
    passed(0, timeline.finished[at]),
    ...stages.flatMap((stage) => [
      passed(stage.queued[at], stage.started[at]),
      passed(stage.started[at], stage.ended[at]),
    ]),
  ]);
  return { columns, rows };
}

function passed(from: number | undefined, to: number | undefined): string {
  const ms = (to ?? Number.NaN) - (from ?? Number.NaN);
  return Number.isNaN(ms) ? NONE : span(ms);
}
