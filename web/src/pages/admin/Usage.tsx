// Current usage of a tenant with its quotas, and its cost by pool and day.

import { Group, NativeSelect, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Bars } from "../../parts/Bars";
import { Figure } from "../../parts/Figure";
import { bytes, cost, count, span } from "../../parts/format";
import { Answer, Empty } from "../../parts/states";
import { Meter } from "./Meter";
import { type TenantUsage, usageQuery } from "./queries";
import { useAdminSearch } from "./tabs";
import { byPool, costTable, daysUntil, type PoolUse } from "./usage";

const RANGES = [7, 30, 90, 400];

export function Usage({ tenant }: { tenant: string }) {
  const { search, set } = useAdminSearch();
  const days = RANGES.find((range) => range === search.days) ?? 30;
  const usage = useQuery({ ...usageQuery(tenant, days), placeholderData: keepPreviousData });
  return (
    <Stack>
      <Answer query={usage} what="the usage" height={200}>
        {(answer) => <CurrentUsage usage={answer} />}
      </Answer>
      <NativeSelect
        label="Period"
        w={160}
        value={String(days)}
        data={RANGES.map((range) => ({ value: String(range), label: `Last ${range} days` }))}
        onChange={(event) => set({ ...search, days: Number(event.currentTarget.value) })}
      />
      <Answer query={usage} what="the daily usage" height={240}>
        {(answer) => <DailyCost usage={answer} days={days} />}
      </Answer>
    </Stack>
  );
}

function CurrentUsage({ usage }: { usage: TenantUsage }) {
  const workers = Object.entries(usage.workers).sort(([a], [b]) => a.localeCompare(b));
  return (
    <Paper withBorder p="md" component="section" aria-label="Quotas">
      <Stack>
        <Title order={2}>Usage and quotas</Title>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Meter
            label="Open batches"
            {...usage.open_batches}
            max={usage.open_batches.max}
            format={count}
          />
          <Meter
            label="Requests per minute"
            used={usage.requests_per_minute.used}
            max={usage.requests_per_minute.max}
            format={count}
            about="Charged when a batch is announced; refilled at a constant rate."
          />
          <Meter
            label="Stored data"
            used={usage.stored_bytes.used}
            max={usage.stored_bytes.max}
            format={bytes}
            about="Requests, artifacts, results and logs."
          />
          {workers.map(([pool, { used, max }]) => (
            <Meter key={pool} label={`Workers in ${pool}`} used={used} max={max} format={count} />
          ))}
        </SimpleGrid>
      </Stack>
    </Paper>
  );
}

function DailyCost({ usage, days }: { usage: TenantUsage; days: number }) {
  const all = daysUntil(new Date().toISOString().slice(0, 10), days);
  const pools = byPool(usage.days, all);
  if (pools.length === 0) {
    return (
      <Empty title={`No batch ended in the last ${days} days`}>
        Usage is counted on the day a batch ends. Score a file, for example with{" "}
        <code>assay score FILE.jsonl --plugin math@prod</code>.
      </Empty>
    );
  }
  const top = Math.max(...pools.flatMap((pool) => pool.costs));
  return (
    <Figure
      title="Cost by pool and day"
      about="Worker seconds times the cost of a worker per second. Days are in UTC."
      table={() => costTable(pools, all)}
    >
      <Stack>
        {pools.map((pool) => (
          <PoolCosts key={pool.pool} pool={pool} days={all} top={top} />
        ))}
      </Stack>
    </Figure>
  );
}

function PoolCosts(props: { pool: PoolUse; days: string[]; top: number }) {
  const { pool, days, top } = props;
  return (
    <div>
      <Group gap="md">
        <Text fw={600}>{pool.pool}</Text>
        <Text size="sm">cost {cost(pool.cost)}</Text>
        <Text size="sm">{span(pool.workerSeconds * 1000)} of worker time</Text>
        <Text size="sm">{count(pool.requests)} requests</Text>
      </Group>
      <Bars
        label={`Cost of ${pool.pool} by day`}
        values={pool.costs}
        top={top}
        tick={(at) => (days[at] ?? "").slice(5)}
        tickWidth={44}
        barLabel={(at) => `${days[at]}: ${cost(pool.costs[at] ?? 0)}`}
        format={cost}
        height={120}
      />
    </div>
  );
}
