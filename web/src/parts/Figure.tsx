// A chart with its title, and the same numbers as a table for who would rather read.

import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useId, useState } from "react";
import { Grid } from "./Grid";

/** Thousands of rows at once would hold the page up. */
const ROWS = 200;

export interface Tabled {
  columns: string[];
  rows: (string | number)[][];
}

export function Figure(props: {
  title: string;
  /** What one should see, and units. */
  about?: string;
  /** Made only when it is asked for. */
  table: () => Tabled;
  children: ReactNode;
}) {
  const { title, about, table, children } = props;
  const [tabled, setTabled] = useState(false);
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Stack gap="xs">
        <Group justify="space-between" align="start" wrap="nowrap">
          <div>
            <Title order={2} id={id}>
              {title}
            </Title>
            {about && (
              <Text size="sm" c="dimmed">
                {about}
              </Text>
            )}
          </div>
          <Button
            size="xs"
            variant="default"
            aria-pressed={tabled}
            style={{ flex: "none" }}
            onClick={() => setTabled(!tabled)}
          >
            {tabled ? "View as chart" : "View as table"}
          </Button>
        </Group>
        {tabled ? <Numbers caption={`${title} in numbers`} table={table()} /> : children}
      </Stack>
    </Paper>
  );
}

function Numbers({ caption, table }: { caption: string; table: Tabled }) {
  const columns = table.columns.map((title, at) => ({
    title,
    number: at > 0,
    cell: (row: { cells: (string | number)[] }) => row.cells[at],
  }));
  const [shown, setShown] = useState(ROWS);
  const rows = table.rows.slice(0, shown).map((cells, at) => ({ at, cells }));
  const hidden = table.rows.length - rows.length;
  return (
    <>
      <Grid
        caption={caption}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.at}
        maxHeight={360}
      />
      {hidden > 0 && (
        <Button
          size="xs"
          variant="default"
          style={{ alignSelf: "flex-start" }}
          onClick={() => setShown(shown + ROWS)}
        >
          Show {Math.min(hidden, ROWS)} of {hidden} further rows
        </Button>
      )}
    </>
  );
}
