// What waits in a pool, batch by batch, in the order in which it is served.

import { Paper, Text, Title } from "@mantine/core";
import { useSession } from "../../api/session";
import { count, moment } from "../../parts/format";
import { Go } from "../../parts/Go";
import { Grid } from "../../parts/Grid";
import type { PoolQueue } from "./queries";

export function Queue({ queue }: { queue: PoolQueue }) {
  const rest = queue.batches_total - queue.batches.length;
  return (
    <Paper withBorder p="md" component="section" aria-label={`Queue of ${queue.pool}`}>
      <Title order={2}>Queue of {queue.pool}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        Batches whose last request could end first are served first, among those of their tenant.
        {rest > 0 && ` ${count(rest)} more wait behind these.`}
      </Text>
      <Grid
        caption={`Batches that wait for ${queue.pool}`}
        rows={queue.batches}
        rowKey={({ id }) => id}
        maxHeight={320}
        columns={[
          { title: "Batch", cell: (batch) => <Batch batch={batch} /> },
          { title: "Tenant", cell: ({ tenant }) => tenant },
          { title: "Could end", tight: true, cell: (batch) => moment(batch.earliest_end_at) },
          { title: "Waiting", number: true, cell: ({ queued }) => count(queued) },
          { title: "Running", number: true, cell: ({ running }) => count(running) },
        ]}
      />
    </Paper>
  );
}

/** Other tenants' batches are theirs to open. */
function Batch({ batch: { id, run, iteration, tenant } }: { batch: PoolQueue["batches"][number] }) {
  const session = useSession();
  const name = `${run} · ${iteration}`;
  if (tenant !== session.tenant) return name;
  return (
    <Go to="/batches/$batch" params={{ batch: id }}>
      {name}
    </Go>
  );
}
