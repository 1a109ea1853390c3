// One pool: how it stands, workers against demand over time, what waits, what the planner decided.

import { Alert, Group, Stack, Text, Title } from "@mantine/core";
import { Facts } from "../../parts/Facts";
import { ago, count, span } from "../../parts/format";
import { Bounds } from "./Bounds";
import { Decisions } from "./Decisions";
import { costOf } from "./history";
import { PoolChart } from "./PoolChart";
import { Queue } from "./Queue";
import type { Pool, PoolHistory, PoolQueue } from "./queries";

const COST = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

export function PoolSection(props: {
  pool: Pool;
  /** What the charts reach back over, in words, and up to when. */
  range: string;
  to: string | undefined;
  history: PoolHistory | undefined;
  queue: PoolQueue | undefined;
}) {
  const { pool, range, to, history, queue } = props;
  const cost = history && to ? COST.format(costOf(history.samples, to)) : undefined;
  return (
    <Stack component="section" aria-label={`Pool ${pool.pool}`}>
      <Group gap="md" align="center">
        <Title order={2}>Pool {pool.pool}</Title>
        <Bounds pool={pool} />
      </Group>
      {pool.trouble && <Trouble trouble={pool.trouble} />}
      <Standing pool={pool} cost={cost} range={range} />
      {history && to && history.samples.length > 0 && (
        <PoolChart pool={pool.pool} samples={history.samples} to={to} />
      )}
      {queue && queue.batches.length > 0 && <Queue queue={queue} />}
      {history && history.decisions.length > 0 && (
        <Decisions pool={pool.pool} decisions={history.decisions} />
      )}
    </Stack>
  );
}

function Standing(props: { pool: Pool; cost: string | undefined; range: string }) {
  const { pool, cost, range } = props;
  const { busy, idle, starting, draining } = pool.workers;
  const { target } = pool;
  return (
    <>
      <Facts
        items={[
          {
            label: "Workers",
            value: count(busy + idle + starting + draining),
            note: `${busy} busy, ${idle} idle, ${starting} starting, ${draining} draining`,
          },
          {
            label: "Target",
            value: target ? `${target.hold} to ${target.ceiling}` : "no plan yet",
            note: "held, and what demand may raise it to",
          },
          { label: "Without any queue", value: count(target?.zero_queue), note: "workers" },
          { label: "Waiting", value: count(pool.queued), note: "requests" },
          { label: "Bounds", value: `${pool.min} to ${pool.max}`, note: "workers" },
          { label: "A start takes", value: span(pool.startup_ms) },
          { label: "Cost", value: cost ?? "–", note: `at most, ${range}` },
        ]}
      />
      {target && (
        <Text size="sm">
          <b>Why:</b> {target.why}
        </Text>
      )}
    </>
  );
}

function Trouble({ trouble }: { trouble: NonNullable<Pool["trouble"]> }) {
  return (
    <Alert color="red" variant="outline" role="alert" title="Workers do not start">
      <pre className="raw">{trouble.error}</pre>
      <Text size="sm">
        {count(trouble.failures)} failed since one went well, the last {ago(trouble.failed_at)}; the
        next try comes {ago(trouble.next_try_at)}. See <code>assay doctor</code>.
      </Text>
    </Alert>
  );
}
