// A table with typed columns. It scrolls horizontally and uses plain elements, because pages show
// thousands of cells.

import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  /** Explains the title in a tooltip. */
  hint?: string;
  cell: (row: Row) => ReactNode;
  /** Aligns to the right, on one line. */
  number?: boolean;
  /** Keeps the cell on one line. */
  tight?: boolean;
}

export function Grid<Row>(props: {
  /** Accessible name of the table. */
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  maxHeight?: number;
}) {
  const { caption, columns, rows, rowKey, maxHeight } = props;
  return (
    <section
      className="grid"
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it
      tabIndex={0}
      {...(maxHeight === undefined ? {} : { style: { maxHeight } })}
    >
      <table aria-label={caption}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" title={column.hint} {...kindOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.title} {...kindOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function kindOf<Row>({ number, tight }: Column<Row>): { className?: string } {
  if (number) return { className: "number" };
  return tight ? { className: "tight" } : {};
}
