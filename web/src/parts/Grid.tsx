// A table of rows: named columns, numbers to the right, wide ones scroll by themselves. Plain elements:
// a page shows thousands of cells.

import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Right-aligned, and on one line. */
  number?: boolean;
  /** On one line. */
  tight?: boolean;
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
  return (
    <section
      className="grid"
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which keys must do too
      tabIndex={0}
      {...(maxHeight === undefined ? {} : { style: { maxHeight } })}
    >
      <table aria-label={caption}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" {...kindOf(column)}>
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
