// Workers and load by pool.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { Badge } from "../../../parts/Badge";
import { count, NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Section } from "../Section";
import { Share } from "../Share";

type Pool = Schemas["PoolCapacity"];

export function PoolTable({ pools }: { pools: Pool[] }) {
  return (
    <Section
      title="Workers and load"
      about="Demand = busy workers + queued requests."
      actions={
        <Anchor component={Link} to="/capacity" size="sm">
          Capacity
        </Anchor>
      }
    >
      <Grid
        caption="Workers and load by pool"
        columns={[
          { title: "Pool", cell: ({ pool }) => pool },
          { title: "Busy", cell: (pool) => <Busy pool={pool} /> },
          { title: "Starting", number: true, cell: ({ workers }) => count(workers.starting) },
          { title: "Draining", number: true, cell: ({ workers }) => count(workers.draining) },
          {
            title: "Demand",
            number: true,
            cell: ({ workers, queued }) => count(workers.busy + queued),
          },
          {
            title: "Target (min–max)",
            number: true,
            cell: ({ target }) => (target ? `${target.hold}–${target.ceiling}` : NONE),
          },
          { title: "Max workers", number: true, cell: ({ max }) => count(max) },
          { title: "Reason", cell: (pool) => <Reason pool={pool} /> },
        ]}
        rows={pools}
        rowKey={({ pool }) => pool}
      />
    </Section>
  );
}

function Busy({ pool: { pool, workers } }: { pool: Pool }) {
  const { busy, idle } = workers;
  return (
    <Share
      label={`Busy workers of ${pool}`}
      value={busy}
      of={busy + idle}
      text={`${busy} of ${busy + idle}`}
    />
  );
}

function Reason({ pool: { target, trouble } }: { pool: Pool }) {
  if (trouble) return <Badge tone="bad">{`workers fail to start: ${trouble.error}`}</Badge>;
  return <span className="words">{target?.why ?? NONE}</span>;
}
