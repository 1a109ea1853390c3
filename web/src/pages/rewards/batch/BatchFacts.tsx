// Key figures of a batch, the most important ones first.

import type { Schemas } from "../../../api/client";
import { Badge, Status } from "../../../parts/Badge";
import { type Fact, Facts } from "../../../parts/Facts";
import { count, moment, NONE, reward, span } from "../../../parts/format";
import { ExplainDeadline } from "../Deadline";
import { deadlineStatus, waitsForRequests } from "../due";
import { PluginLink } from "../Links";
import type { Targets } from "./targets";

type Timeline = Schemas["Timeline"];

export function BatchFacts(props: {
  timeline: Timeline;
  targets: Targets;
  /** State of a live batch from the live stream. */
  liveBatch: Schemas["LiveBatch"] | undefined;
  /** The server's time since the first request. */
  nowMs: number;
  /** The server's time since 1970, for `liveBatch`. */
  liveNowMs: number;
}) {
  const { timeline, targets, liveBatch, nowMs, liveNowMs } = props;
  const { batch, rollup } = timeline;
  const { scored, timed_out, error, shared } = batch.counts;
  const rewards = rollup?.rewards;
  const facts: Fact[] = [
    {
      label: "State",
      tile: true,
      value: <Status kind={batch.state} />,
      note: moment(batch.announced_at),
    },
    {
      label: "Finished",
      tile: true,
      value: `${count(scored + timed_out + error)} of ${count(sizeOf(batch))}`,
      note: `${count(scored)} scored, ${count(timed_out)} timed out, ${count(error)} failed`,
    },
    ...(shared ? [deduplicated(shared)] : []),
    {
      label: "Mean reward",
      tile: true,
      value: reward(batch.mean_reward),
      note:
        rewards &&
        `std ${reward(rewards.std)}, min ${reward(rewards.min)}, max ${reward(rewards.max)}`,
    },
    ...(ended(timeline) ?? awaited(targets, { liveBatch, liveNowMs, nowMs })),
    ...(liveBatch ? [queueFact(liveBatch)] : []),
    {
      label: "Ideal end",
      hint: "T: the end if no request had waited for a worker",
      value: span(targets.earliestMs),
      note: "no queueing",
    },
    {
      label: "Deadline",
      hint: "T + D: the ideal end plus the delay tolerance",
      explain: <ExplainDeadline />,
      value: span(targets.toleratedMs),
      note: toleranceText(timeline),
    },
    ...forecast(timeline),
    { label: "Plugin", value: <PluginLink plugin={batch.plugin} /> },
  ];
  if (rollup && rollup.groups > 0) {
    facts.push({
      label: "Groups",
      value: count(rollup.groups),
      note: `${count(rollup.zero_variance_groups)} of ${count(rollup.complete_groups)} complete groups have zero variance`,
    });
  }
  if (rollup) {
    const pools = Object.entries(rollup.worker_seconds);
    facts.push({
      label: "Worker time",
      value: pools.map(([pool, seconds]) => `${pool} ${span(seconds * 1000)}`).join(", ") || NONE,
    });
  }
  return <Facts items={facts} />;
}

function deduplicated(shared: number): Fact {
  return { label: "Deduplicated", value: count(shared), note: "answered by an equal request" };
}

function queueFact({ queued, running }: Schemas["LiveBatch"]): Fact {
  return { label: "Queued", value: count(queued), note: `${count(running)} running` };
}

/** The delay tolerance in force, in words. */
export function toleranceText(
  timeline: Pick<Timeline, "max_extra_delay_ms" | "tolerance_ms">,
): string {
  const own = timeline.max_extra_delay_ms != null;
  return `${span(timeline.tolerance_ms)} delay tolerance${own ? "" : " (default)"}`;
}

function lateBy({ batch, tolerance_ms }: Timeline): string {
  if (batch.extra_delay_ms == null) return "late";
  return `late by ${span(batch.extra_delay_ms - tolerance_ms)}`;
}

/** The expected end, compared with the deadline. */
function awaited(
  targets: Targets,
  live: { liveBatch: Schemas["LiveBatch"] | undefined; liveNowMs: number; nowMs: number },
): Fact[] {
  const { liveBatch, liveNowMs, nowMs } = live;
  if (liveBatch && waitsForRequests(liveBatch)) {
    const silence = deadlineStatus(liveBatch, liveNowMs)?.text;
    return [{ label: "Expected end", tile: true, value: NONE, note: silence }];
  }
  return [{ label: "Expected end", tile: true, ...expectedEnd(targets, nowMs) }];
}

/** The actual end, compared with the deadline; undefined before it. */
function ended(timeline: Timeline): Fact[] | undefined {
  const { ended_ms, batch, lateness } = timeline;
  if (ended_ms == null) return undefined;
  const delay = span(batch.extra_delay_ms);
  // A cancelled or expired batch did not run to its end, so it is never late.
  const late = batch.state === "done" && lateness?.late;
  return [
    {
      label: "Extra delay",
      tile: true,
      hint: "d: from the ideal end to the actual end",
      value: late ? <Badge tone="late">{`${delay}, ${lateBy(timeline)}`}</Badge> : delay,
    },
    { label: "Duration", value: span(ended_ms), note: "from the first request" },
  ];
}

/** How many requests the batch will have: by what its trainer last said, was announced, or came. */
export function sizeOf({
  counts,
  outstanding,
  expected_size,
}: Pick<Schemas["Batch"], "counts" | "outstanding" | "expected_size">): number {
  if (outstanding != null) return counts.submitted + outstanding;
  return expected_size ?? counts.submitted;
}

/** The end that was expected half-way, compared with the end that came. */
export function forecast({
  rollup,
  first_arrival_at,
  ended_ms,
  earliest_end_ms,
}: Pick<Timeline, "rollup" | "first_arrival_at" | "ended_ms" | "earliest_end_ms">): Fact[] {
  const expected = rollup?.expected;
  if (!expected || first_arrival_at == null || ended_ms == null || earliest_end_ms == null)
    return [];
  const since = (at: string) => Date.parse(at) - Date.parse(first_arrival_at);
  const [ideal, end] = [since(expected.earliest_end_at), since(expected.done_at)];
  return [
    {
      label: "Expected half-way",
      hint: "The end that the planner expected after half of the duration",
      value: span(end),
      note: `${offBy(end, ended_ms)}; ideal end ${span(ideal)}, ${offBy(ideal, earliest_end_ms)}`,
    },
  ];
}

/** How far an expected time was off, in words. */
export function offBy(expectedMs: number, actualMs: number): string {
  const off = expectedMs - actualMs;
  if (Math.abs(off) < Math.max(1, actualMs / 1000)) return "as it came";
  return `${span(Math.abs(off))} too ${off < 0 ? "early" : "late"}`;
}

function expectedEnd({ estimatedMs, toleratedMs }: Targets, nowMs: number) {
  // An expected end in the past is due at any moment.
  const overdue = estimatedMs !== null && estimatedMs < nowMs;
  const value = overdue ? "any moment" : span(estimatedMs);
  if (toleratedMs === null || Number.isNaN(nowMs)) return { value };
  const over = nowMs - toleratedMs;
  if (over > 0) return { value, note: <Badge tone="late">{`${span(over)} late`}</Badge> };
  return { value, note: `${span(-over)} until the deadline` };
}
