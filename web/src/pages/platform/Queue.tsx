// The queue of a pool by batch, in the order of service.

import { Paper, Text, Title } from "@mantine/core";
import { useSession } from "../../api/session";
import { count, moment } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { TextLink } from "../../parts/TextLink";
import type { PoolQueue } from "./queries";

export function Queue({ queue }: { queue: PoolQueue }) {
  const rest = queue.batches_total - queue.batches.length;
  return (
    <Paper withBorder p="md" component="section" aria-label={`Queue of ${queue.pool}`}>
      <Title order={2}>Queue of {queue.pool}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        Within a tenant, the batch with the earliest ideal end is served first.
        {rest > 0 && ` ${count(rest)} more batches are queued after these.`}
      </Text>
      <Grid
        caption={`Batches queued for ${queue.pool}`}
        rows={queue.batches}
        rowKey={({ id }) => id}
        maxHeight={320}
        columns={[
          { title: "Batch", opens: true, cell: (batch) => <Batch batch={batch} /> },
          { title: "Tenant", cell: ({ tenant }) => tenant },
          {
            title: "Ideal end",
            hint: "T: the end if no request had waited for a worker",
            tight: true,
            cell: (batch) => moment(batch.earliest_end_at),
          },
          { title: "Queued", number: true, cell: ({ queued }) => count(queued) },
          { title: "Running", number: true, cell: ({ running }) => count(running) },
        ]}
      />
      {queue.tenants && queue.tenants.length > 1 && <Tenants queue={queue} />}
    </Paper>
  );
}

/** The tenants that wait, and the tenants that have the workers. */
function Tenants({ queue }: { queue: PoolQueue }) {
  return (
    <Grid
      caption={`Tenants in ${queue.pool}`}
      rows={queue.tenants ?? []}
      rowKey={({ tenant }) => tenant}
      maxHeight={320}
      columns={[
        { title: "Tenant", cell: ({ tenant }) => tenant },
        { title: "Workers", number: true, cell: ({ workers }) => count(workers) },
        {
          title: "Max workers",
          number: true,
          cell: ({ workers_max }) => (workers_max == null ? "–" : count(workers_max)),
        },
        { title: "Queued", number: true, cell: ({ queued }) => count(queued) },
      ]}
    />
  );
}

/** Only batches of the current tenant can be opened. */
function Batch({ batch: { id, run, iteration, tenant } }: { batch: PoolQueue["batches"][number] }) {
  const session = useSession();
  const name = `${run} · ${iteration}`;
  if (tenant !== session.tenant) return name;
  return (
    <TextLink to="/batches/$batch" params={{ batch: id }}>
      {name}
    </TextLink>
  );
}
