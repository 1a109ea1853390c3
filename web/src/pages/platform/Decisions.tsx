// Decisions of the planner for a pool with their reasons, newest first.

import { Paper, Text, Title } from "@mantine/core";
import { clock, moment } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import type { PoolHistory } from "./queries";

type Decision = PoolHistory["decisions"][number];

export function Decisions({ pool, decisions }: { pool: string; decisions: Decision[] }) {
  const rows = decisions.map((decision, at) => ({ ...decision, key: `${decision.at} ${at}` }));
  return (
    <Paper withBorder p="md" component="section" aria-label={`Decisions for ${pool}`}>
      <Title order={2}>Decisions for {pool}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        Changes of the target, newest first. The reason says what one worker fewer would have
        caused.
      </Text>
      <Grid
        caption={`Changes of the target of ${pool}`}
        rows={rows}
        rowKey={({ key }) => key}
        maxHeight={320}
        columns={[
          { title: "Time", cell: ({ at }) => <time title={moment(at)}>{clock(at)}</time> },
          { title: "Target min", number: true, cell: (one) => step(one.hold_before, one.hold) },
          {
            title: "Target max",
            number: true,
            cell: (one) => step(one.ceiling_before, one.ceiling),
          },
          { title: "Reason", cell: ({ why }) => why },
        ]}
      />
    </Paper>
  );
}

function step(before: number | null | undefined, after: number): string {
  return before == null || before === after ? String(after) : `${before} → ${after}`;
}
