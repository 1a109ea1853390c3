// Groups the daily usage of a tenant by pool.

import type { TableData } from "../../parts/Figure";
import { cost } from "../../parts/format";
import type { TenantUsage } from "./queries";

type Day = TenantUsage["days"][number];

export interface PoolUse {
  pool: string;
  requests: number;
  workerSeconds: number;
  cost: number;
  /** One value per day of `days`; zero if no batch ended that day. */
  costs: number[];
}

/** The last `count` days up to `today` (UTC), oldest first. */
export function daysUntil(today: string, count: number): string[] {
  const last = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, at) =>
    new Date(last - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10),
  );
}

/** Groups rows by pool, highest cost first. */
export function byPool(rows: readonly Day[], days: readonly string[]): PoolUse[] {
  const place = new Map(days.map((day, at) => [day, at]));
  const pools = new Map<string, PoolUse>();
  for (const row of rows) {
    const at = place.get(row.day);
    if (at === undefined) continue;
    const use = pools.get(row.pool) ?? none(row.pool, days.length);
    use.requests += row.requests;
    use.workerSeconds += row.worker_seconds;
    use.cost += row.cost;
    use.costs[at] = (use.costs[at] ?? 0) + row.cost;
    pools.set(row.pool, use);
  }
  return [...pools.values()].sort((a, b) => b.cost - a.cost || a.pool.localeCompare(b.pool));
}

/** The costs by day, the latest first. A file has them unrounded. */
export function costTable(pools: readonly PoolUse[], days: readonly string[]): TableData {
  return {
    columns: ["Day", ...pools.map((pool) => `Cost of ${pool.pool}`)],
    rows: days.map((day, at) => [day, ...pools.map((pool) => pool.costs[at] ?? 0)]).reverse(),
    format: cost,
  };
}

function none(pool: string, days: number): PoolUse {
  return { pool, requests: 0, workerSeconds: 0, cost: 0, costs: new Array<number>(days).fill(0) };
}
