// A table of rows: named columns, numbers to the right, wide ones scroll by themselves.

import { ScrollArea, Table } from "@mantine/core";
import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  number?: boolean;
}

export function Grid<Row>(props: {
  /** What the table tells, for those who cannot see what stands around it. */
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  maxHeight?: number;
}) {
  const { caption, columns, rows, rowKey, maxHeight } = props;
  const side = (column: Column<Row>) => (column.number ? "right" : "left");
  return (
    <ScrollArea.Autosize
      {...(maxHeight === undefined ? {} : { mah: maxHeight })}
      viewportProps={{ tabIndex: 0, role: "region", "aria-label": caption }}
    >
      <Table
        aria-label={caption}
        striped="even"
        verticalSpacing={6}
        stickyHeader={maxHeight !== undefined}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.title} scope="col" ta={side(column)}>
                {column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => (
                <Table.Td key={column.title} ta={side(column)}>
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
