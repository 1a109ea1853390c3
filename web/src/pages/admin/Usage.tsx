// What a tenant uses now beside its quotas, and what it cost by pool and day.

import { Group, NativeSelect, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Bars } from "../../parts/Bars";
import { Figure } from "../../parts/Figure";
import { bytes, count, span } from "../../parts/format";
import { Answer, Empty } from "../../parts/states";
import { Meter } from "./Meter";
import { type TenantUsage, usageQuery } from "./queries";
import { useAdminSearch } from "./tabs";
import { byPool, daysUntil, type PoolUse } from "./usage";

const RANGES = [7, 30, 90, 400];
const COST = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

export function Usage({ tenant }: { tenant: string }) {
  const { search, set } = useAdminSearch();
  const days = RANGES.find((range) => range === search.days) ?? 30;
  const usage = useQuery({ ...usageQuery(tenant, days), placeholderData: keepPreviousData });
  return (
    <Stack>
      <Answer query={usage} what="what is used" height={200}>
        {(answer) => <Now usage={answer} />}
      </Answer>
      <NativeSelect
        label="Days"
        w={160}
        value={String(days)}
        data={RANGES.map((range) => ({ value: String(range), label: `Last ${range} days` }))}
        onChange={(event) => set({ ...search, days: Number(event.currentTarget.value) })}
      />
      <Answer query={usage} what="what was used by day" height={240}>
        {(answer) => <Days usage={answer} days={days} />}
      </Answer>
    </Stack>
  );
}

function Now({ usage }: { usage: TenantUsage }) {
  const workers = Object.entries(usage.workers).sort(([a], [b]) => a.localeCompare(b));
  return (
    <Paper withBorder p="md" component="section" aria-label="Quotas">
      <Stack>
        <Title order={2}>Used now, and the most that may be</Title>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Meter
            label="Open batches"
            {...usage.open_batches}
            max={usage.open_batches.max}
            format={count}
          />
          <Meter
            label="Requests a minute"
            used={usage.requests_per_minute.used}
            max={usage.requests_per_minute.max}
            format={count}
            about="Taken by batches as they are announced; given back at an even rate."
          />
          <Meter
            label="Stored"
            used={usage.stored_bytes.used}
            max={usage.stored_bytes.max}
            format={bytes}
            about="Requests, artifacts, results and logs."
          />
          {workers.map(([pool, { used, max }]) => (
            <Meter key={pool} label={`Workers of ${pool}`} used={used} max={max} format={count} />
          ))}
        </SimpleGrid>
      </Stack>
    </Paper>
  );
}

function Days({ usage, days }: { usage: TenantUsage; days: number }) {
  const all = daysUntil(new Date().toISOString().slice(0, 10), days);
  const pools = byPool(usage.days, all);
  if (pools.length === 0) {
    return (
      <Empty title={`No batch ended in the last ${days} days`}>
        What batches use is counted on the day they end: score something, for example by{" "}
        <code>assay score FILE.jsonl --plugin math@prod</code>.
      </Empty>
    );
  }
  const top = Math.max(...pools.flatMap((pool) => pool.costs));
  return (
    <Figure
      title="Cost by pool and day"
      about="Seconds of workers times what a worker of the pool costs; days are UTC."
      table={() => tabled(pools, all)}
    >
      <Stack>
        {pools.map((pool) => (
          <PoolDays key={pool.pool} pool={pool} days={all} top={top} />
        ))}
      </Stack>
    </Figure>
  );
}

function PoolDays(props: { pool: PoolUse; days: string[]; top: number }) {
  const { pool, days, top } = props;
  return (
    <div>
      <Group gap="md">
        <Text fw={600}>{pool.pool}</Text>
        <Text size="sm">cost {COST.format(pool.cost)}</Text>
        <Text size="sm">{span(pool.workerSeconds * 1000)} of workers</Text>
        <Text size="sm">{count(pool.requests)} requests</Text>
      </Group>
      <Bars
        label={`Cost of ${pool.pool} by day`}
        values={pool.costs}
        top={top}
        tick={(at) => (days[at] ?? "").slice(5)}
        tickWidth={44}
        tell={(at) => `${days[at]}: ${COST.format(pool.costs[at] ?? 0)}`}
        format={(value) => COST.format(value)}
        height={120}
      />
    </div>
  );
}

function tabled(pools: PoolUse[], days: string[]) {
  return {
    columns: ["Day", ...pools.map((pool) => `Cost of ${pool.pool}`)],
    rows: days
      .map((day, at) => [
        day,
        ...pools.map((pool) => Number(COST.format(pool.costs[at] ?? 0).replaceAll(",", ""))),
      ])
      .reverse(),
  };
}
