// One pool: current state, chart over time, queue and decisions of the planner.

import { Alert, Group, Stack, Text, Title } from "@mantine/core";
import { Facts } from "../../parts/Facts";
import { ago, cost, count, NONE, span } from "../../parts/format";
import { Bounds } from "./Bounds";
import { Decisions } from "./Decisions";
import { costOf, type Period } from "./history";
import { PoolChart } from "./PoolChart";
import { Queue } from "./Queue";
import type { Pool, PoolHistory, PoolQueue } from "./queries";

export function PoolSection(props: {
  pool: Pool;
  /** Time range of the charts, as text, and as the server answered. */
  range: string;
  period: Period | undefined;
  history: PoolHistory | undefined;
  queue: PoolQueue | undefined;
}) {
  const { pool, range, period, history, queue } = props;
  const total = history && period ? costOf(history.samples, period) : undefined;
  return (
    <Stack component="section" aria-label={`Pool ${pool.pool}`}>
      <Group gap="md" align="center">
        <Title order={2}>Pool {pool.pool}</Title>
        <Bounds pool={pool} />
      </Group>
      {pool.trouble && <StartFailures trouble={pool.trouble} />}
      {pool.waiting && pool.waiting.length > 0 && (
        <Reasons title="Workers wait for a place" reasons={pool.waiting} />
      )}
      {pool.leaving && pool.leaving.length > 0 && (
        <Reasons title="Workers leave" reasons={pool.leaving} />
      )}
      <PoolFacts pool={pool} total={total} range={range} />
      {history && period && history.samples.length > 0 && (
        <PoolChart pool={pool.pool} samples={history.samples} period={period} />
      )}
      {queue && queue.batches.length > 0 && <Queue queue={queue} />}
      {history && history.decisions.length > 0 && (
        <Decisions pool={pool.pool} decisions={history.decisions} />
      )}
    </Stack>
  );
}

function PoolFacts(props: { pool: Pool; total: number | undefined; range: string }) {
  const { pool, total, range } = props;
  const { busy, idle, starting, draining } = pool.workers;
  const { target } = pool;
  return (
    <>
      <Facts
        items={[
          {
            label: "Workers",
            tile: true,
            value: count(busy + idle + starting + draining),
            note: `${busy} busy, ${idle} idle, ${starting} starting, ${draining} draining`,
          },
          {
            label: "Target",
            tile: true,
            value: target ? `${target.hold}–${target.ceiling}` : "no plan yet",
            note: "min–max workers",
          },
          { label: "Workers for zero wait", tile: true, value: count(target?.zero_queue) },
          { label: "Queued", tile: true, value: count(pool.queued), note: "requests" },
          { label: "Limits", value: `${pool.min}–${pool.max}`, note: "min–max workers" },
          { label: "Startup time", value: span(pool.startup_ms) },
          {
            label: "Cost",
            value: total === undefined ? NONE : cost(total),
            note: `upper bound, ${range.toLowerCase()}`,
          },
        ]}
      />
      {target && (
        <Text size="sm">
          <b>Reason:</b> {target.why}
        </Text>
      )}
    </>
  );
}

function Reasons(props: { title: string; reasons: NonNullable<Pool["waiting"]> }) {
  return (
    <Alert color="yellow" variant="outline" title={props.title}>
      {props.reasons.map(({ workers, since, reason }) => (
        <Text size="sm" key={reason}>
          {count(workers)} since {ago(since)}: {reason}
        </Text>
      ))}
    </Alert>
  );
}

function StartFailures({ trouble }: { trouble: NonNullable<Pool["trouble"]> }) {
  return (
    <Alert color="red" variant="outline" role="alert" title="Workers fail to start">
      <pre className="raw">{trouble.error}</pre>
      <Text size="sm">
        Consecutive failures: {count(trouble.failures)}. Last failure: {ago(trouble.failed_at)}.
        Next attempt: {ago(trouble.next_try_at)}. Run <code>assay doctor</code> for details.
      </Text>
    </Alert>
  );
}
