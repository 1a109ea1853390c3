// A chart with a title, which can also be shown as a table.

import { Group, Menu, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { Action } from "./Action";
import { FormatItems } from "./Export";
import { type Format, fileOf, save } from "./exports";
import { Grid } from "./Grid";
import { Failed } from "./states";

export interface TableData {
  columns: string[];
  rows: (string | number)[][];
  /** Formats the numbers that are shown; a file has the numbers themselves. */
  format?: (value: number) => string;
}

export function Figure(props: {
  title: string;
  /** Explains the chart and its units. */
  about?: string;
  /** Called only when the table is shown. */
  table: () => TableData;
  children: ReactNode;
}) {
  const { title, about, table, children } = props;
  const [asTable, setAsTable] = useState(false);
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
          <Group gap={4} wrap="nowrap" style={{ flex: "none" }}>
            <Action
              label={asTable ? "View as chart" : "View as table"}
              icon={asTable ? "chart" : "table"}
              aria-pressed={asTable}
              onClick={() => setAsTable(!asTable)}
            />
            <FigureExport title={title} table={table} />
          </Group>
        </Group>
        {asTable ? <NumberTable caption={`${title} in numbers`} table={table()} /> : children}
      </Stack>
    </Paper>
  );
}

function FigureExport({ title, table }: { title: string; table: () => TableData }) {
  const saving = useMutation({
    mutationFn: (format: Format) => {
      const { columns, rows } = table();
      return save(title, format, fileOf(format, columns, rows));
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Action label={`Export ${title}`} icon="export" />
        </Menu.Target>
        <FormatItems onChoose={saving.mutate} />
      </Menu>
      {saving.isError && <Failed thrown={saving.error} />}
    </>
  );
}

function NumberTable({ caption, table }: { caption: string; table: TableData }) {
  const shown = (cell: string | number | undefined) =>
    typeof cell === "number" && table.format ? table.format(cell) : cell;
  const columns = table.columns.map((title, at) => ({
    title,
    number: at > 0,
    cell: (row: { cells: (string | number)[] }) => shown(row.cells[at]),
  }));
  const rows = table.rows.map((cells, at) => ({ at, cells }));
  return (
    <Grid
      caption={caption}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.at}
      maxHeight={360}
    />
  );
}
