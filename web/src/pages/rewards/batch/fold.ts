// Converts groups and verdicts of a batch to chart data.

/** Share of groups and requests that were complete at each completion time. */
export function completion(
  groups: readonly (number | null)[],
  requests: readonly (number | null)[],
): { atMs: number[]; groups: number[]; requests: number[] } {
  const times = (all: readonly (number | null)[]) =>
    all.filter((ms) => ms !== null).sort((a, b) => a - b);
  const [complete, finished] = [times(groups), times(requests)];
  const atMs = [...new Set([0, ...complete, ...finished])].sort((a, b) => a - b);
  return {
    atMs,
    groups: sharesBy(atMs, complete, groups.length),
    requests: sharesBy(atMs, finished, requests.length),
  };
}

function sharesBy(atMs: readonly number[], sorted: readonly number[], of: number): number[] {
  let past = 0;
  return atMs.map((at) => {
    while (past < sorted.length && (sorted[past] ?? 0) <= at) past += 1;
    return of === 0 ? 0 : past / of;
  });
}

export interface Counted {
  name: string;
  count: number;
}

/** Verdicts by count, highest first. Counts the listed requests while there is no roll-up. */
export function verdictsOf(
  rolledUp: Readonly<Record<string, number>> | undefined,
  verdicts: readonly (string | null)[],
): Counted[] {
  const counts = new Map(Object.entries(rolledUp ?? {}));
  if (!rolledUp) {
    for (const verdict of verdicts) {
      if (verdict !== null) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count || one.name.localeCompare(other.name));
}
