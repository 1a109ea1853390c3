// A table that is sorted by the heads of its columns, among the rows that are loaded.

import { Text } from "@mantine/core";
import { count } from "./format";
import { type Column, Grid } from "./Grid";
import { useSorted } from "./sort";

export function SortedGrid<Row extends object>(props: {
  /** Accessible name of the table. */
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  maxHeight?: number;
  /** Whether the list has rows that are not loaded. */
  more?: boolean;
}) {
  const { rows, more = false, ...grid } = props;
  const sorted = useSorted(grid.columns, rows);
  return (
    <>
      <Grid {...grid} rows={sorted.rows} heads={sorted.heads} />
      {sorted.isSorted && more && <SortedPart rows={rows.length} />}
    </>
  );
}

/** Tells that the server has rows that may belong before the shown ones. */
export function SortedPart({ rows }: { rows: number }) {
  return (
    <Text size="xs" c="dimmed" role="note">
      Sorted among the {count(rows)} rows of this page. The list has more: choose more rows per page
      to sort them too.
    </Text>
  );
}
