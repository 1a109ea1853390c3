// Rewards of groups: the advantage of each rollout, and groups from which a trainer learns nothing.

import type { Schemas } from "../../../api/client";

/**
 * The advantage of each reward in its group: its distance from the mean in standard deviations. Null
 * without a reward; zero for all if the rewards are equal.
 */
export function advantages(rewards: readonly (number | null)[]): (number | null)[] {
  const known = rewards.filter((reward) => reward !== null);
  if (known.length === 0) return rewards.map(() => null);
  const mean = known.reduce((sum, reward) => sum + reward, 0) / known.length;
  const variance = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / known.length;
  const std = Math.sqrt(variance);
  return rewards.map((reward) => {
    if (reward === null) return null;
    return std === 0 ? 0 : (reward - mean) / std;
  });
}

/**
 * The advantages of the rollouts of a group: those that the server knows, or else those of the rewards. A group that may
 * have more rollouts has none of the latter, which are relative to all of them.
 */
export function advantagesOf(
  rollouts: readonly { reward?: number | null; advantage?: number | null }[],
  more: boolean,
): (number | null)[] {
  const own = rollouts.map(({ advantage }) => advantage ?? null);
  if (more || own.some((advantage) => advantage !== null)) return own;
  return advantages(rollouts.map(({ reward }) => reward ?? null));
}

export interface EqualGroups {
  /** Names of groups whose rollouts all have the same reward above zero. */
  right: string[];
  /** The same with a reward of zero or less. */
  wrong: string[];
}

/** Complete groups of two or more rollouts whose rewards are all equal. */
export function equalGroups({
  groups,
  requests,
}: Pick<Schemas["Timeline"], "groups" | "requests">): EqualGroups {
  const rewards: (number | null)[][] = groups.name.map(() => []);
  requests.group.forEach((group, at) => {
    if (group != null) rewards[group]?.push(requests.reward[at] ?? null);
  });
  const equal: EqualGroups = { right: [], wrong: [] };
  groups.name.forEach((name, at) => {
    const [first, ...others] = rewards[at] ?? [];
    const complete = groups.completed_ms[at] != null;
    if (!complete || first == null || others.length === 0) return;
    if (others.every((reward) => reward === first))
      (first > 0 ? equal.right : equal.wrong).push(name);
  });
  return equal;
}
