// How a batch stands, in numbers: the important ones first.

import type { Schemas } from "../../../api/client";
import { Dot, Kind } from "../../../parts/Dot";
import { type Fact, Facts } from "../../../parts/Facts";
import { count, moment, NONE, reward, span } from "../../../parts/format";
import { waitsForRequests } from "../due";
import { PluginLink } from "../Links";
import type { Targets } from "./targets";

type Timeline = Schemas["Timeline"];

export function BatchFacts(props: {
  timeline: Timeline;
  targets: Targets;
  /** What the stream of events says of it while it lives. */
  living: Schemas["LiveBatch"] | undefined;
  nowMs: number;
}) {
  const { timeline, targets, living, nowMs } = props;
  const { batch, rollup } = timeline;
  const { scored, timed_out, error, submitted, shared } = batch.counts;
  const rewards = rollup?.rewards;
  const facts: Fact[] = [
    { label: "State", value: <Kind kind={batch.state} />, note: moment(batch.announced_at) },
    {
      label: "Finished",
      value: `${count(scored + timed_out + error)} of ${count(batch.expected_size ?? submitted)}`,
      note: `${count(scored)} scored, ${count(timed_out)} timed out, ${count(error)} failed`,
    },
    ...(shared ? [sharing(shared)] : []),
    {
      label: "Mean reward",
      value: reward(batch.mean_reward),
      note:
        rewards && `std ${reward(rewards.std)}, ${reward(rewards.min)} to ${reward(rewards.max)}`,
    },
    ...ending(timeline, targets, living, nowMs),
    ...(living ? [waiting(living)] : []),
    {
      label: "T",
      value: span(targets.earliestMs),
      note: "its end if no request waited",
    },
    {
      label: "T + D",
      value: span(targets.toleratedMs),
    },
    { label: "Plugin", value: <PluginLink plugin={batch.plugin} /> },
  ];
  if (rollup && rollup.groups > 0) {
    facts.push({
      label: "Groups",
      value: count(rollup.groups),
      note: `${count(rollup.zero_variance_groups)} of ${count(rollup.complete_groups)} complete ones without variance`,
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

function sharing(shared: number): Fact {
  return { label: "Shared", value: count(shared), note: "took the outcome of an equal request" };
}

function waiting({ queued, running }: Schemas["LiveBatch"]): Fact {
  return { label: "Queued", value: count(queued), note: `${count(running)} running` };
}

/** When it ended or will, against what is tolerated. */
function ending(
  timeline: Timeline,
  targets: Targets,
  living: Schemas["LiveBatch"] | undefined,
  nowMs: number,
): Fact[] {
  const { ended_ms, batch, lateness } = timeline;
  if (ended_ms == null) {
    if (living && waitsForRequests(living)) {
      return [{ label: "Expected end", value: NONE, note: "waits for requests" }];
    }
    return [{ label: "Expected end", ...left(targets, nowMs) }];
  }
  const delay = span(batch.extra_delay_ms);
  // What was cancelled or expired ended when somebody said so.
  const late = batch.state === "done" && lateness?.late;
  return [
    {
      label: "Extra delay",
      value: late ? <Dot tone="late">{`${delay}, late`}</Dot> : delay,
      note: `D ${span(timeline.max_extra_delay_ms)}`,
    },
    { label: "Ended after", value: span(ended_ms) },
  ];
}

function left({ estimatedMs, toleratedMs }: Targets, nowMs: number) {
  // What was expected before now may come at any moment.
  const overdue = estimatedMs !== null && estimatedMs < nowMs;
  const value = overdue ? "any moment" : span(estimatedMs);
  if (toleratedMs === null || Number.isNaN(nowMs)) return { value };
  const over = nowMs - toleratedMs;
  if (over > 0) return { value, note: <Dot tone="late">{`${span(over)} late`}</Dot> };
  return { value, note: `${span(-over)} left to T + D` };
}
