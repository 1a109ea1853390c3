// Workers against demand, by pool.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { Dot } from "../../../parts/Dot";
import { count, NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Section } from "../Section";
import { Share } from "../Share";

type Pool = Schemas["PoolCapacity"];

export function PoolTable({ pools }: { pools: Pool[] }) {
  return (
    <Section
      title="Workers against demand"
      about="Demand is busy workers and requests that wait; the planner holds and bounds each pool."
      actions={
        <Anchor component={Link} to="/capacity" size="sm">
          Capacity
        </Anchor>
      }
    >
      <Grid
        caption="Workers against demand by pool"
        columns={[
          { title: "Pool", cell: ({ pool }) => pool },
          { title: "Busy of workers", cell: (pool) => <Busy pool={pool} /> },
          { title: "Starting", number: true, cell: ({ workers }) => count(workers.starting) },
          { title: "Draining", number: true, cell: ({ workers }) => count(workers.draining) },
          {
            title: "Demand",
            number: true,
            cell: ({ workers, queued }) => count(workers.busy + queued),
          },
          {
            title: "Held to ceiling",
            number: true,
            cell: ({ target }) => (target ? `${target.hold} to ${target.ceiling}` : NONE),
          },
          { title: "Max", number: true, cell: ({ max }) => count(max) },
          { title: "Why", cell: (pool) => <Why pool={pool} /> },
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

function Why({ pool: { target, trouble } }: { pool: Pool }) {
  if (trouble) return <Dot tone="bad">{`workers do not start: ${trouble.error}`}</Dot>;
  return <span className="words">{target?.why ?? NONE}</span>;
}
