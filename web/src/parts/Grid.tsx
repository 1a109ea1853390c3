// A table with typed columns. It scrolls horizontally and uses plain elements, because pages show
// thousands of cells. A long list keeps only the rows in view in the document.

import { type ReactNode, useState } from "react";
import { openRow } from "./openRow";
import type { Direction, SortHeads } from "./sort";
import { VirtualRows } from "./VirtualRows";

export interface Column<Row> {
  title: string;
  /** Explains the title in a tooltip. */
  hint?: string;
  cell: (row: Row) => ReactNode;
  /** The value by which rows are sorted; a column without it cannot be sorted by. */
  value?: (row: Row) => string | number | null | undefined;
  /** Aligns to the right, on one line. */
  number?: boolean;
  /** Keeps the cell on one line. */
  tight?: boolean;
  /** A click anywhere in the row does what the link or button of this cell does. */
  opens?: boolean;
}

/** Number of rows from which on only those in view are in the document. */
export const VIRTUAL_FROM = 200;
const VIRTUAL_HEIGHT = 640;

const MARKS: Record<Direction, string> = { ascending: "↑", descending: "↓", none: "↕" };

export function Grid<Row>(props: {
  /** Accessible name of the table. */
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  maxHeight?: number;
  /** Makes the heads of columns with values into buttons that sort. */
  heads?: SortHeads;
}) {
  const { caption, columns, rows, rowKey, heads } = props;
  const [frame, setFrame] = useState<HTMLElement | null>(null);
  const virtual = rows.length > VIRTUAL_FROM;
  const maxHeight = props.maxHeight ?? (virtual ? VIRTUAL_HEIGHT : undefined);
  const cells = (row: Row) =>
    columns.map((column) => (
      <td key={column.title} {...kindOf(column)} {...(column.opens ? { "data-opens": true } : {})}>
        {column.cell(row)}
      </td>
    ));
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has the link or button itself
    <section
      ref={setFrame}
      className="grid"
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it
      tabIndex={0}
      onClick={openRow}
      {...(maxHeight === undefined ? {} : { style: { maxHeight } })}
    >
      <table aria-label={caption} {...(virtual ? { "aria-rowcount": rows.length + 1 } : {})}>
        <thead>
          <tr {...(virtual ? { "aria-rowindex": 1 } : {})}>
            {columns.map((column) => (
              <Head key={column.title} column={column} heads={heads} />
            ))}
          </tr>
        </thead>
        {virtual ? (
          <VirtualRows
            frame={frame}
            rows={rows}
            rowKey={rowKey}
            cells={cells}
            columns={columns.length}
          />
        ) : (
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>{cells(row)}</tr>
            ))}
          </tbody>
        )}
      </table>
    </section>
  );
}

function Head<Row>({ column, heads }: { column: Column<Row>; heads: SortHeads | undefined }) {
  const { title, hint, value } = column;
  if (!heads || !value) {
    return (
      <th scope="col" title={hint} {...kindOf(column)}>
        {title}
      </th>
    );
  }
  const direction = heads.direction(title);
  return (
    <th scope="col" title={hint} aria-sort={direction} {...kindOf(column)}>
      <button
        type="button"
        className="sort"
        data-sorted={direction !== "none"}
        onClick={() => heads.toggle(title)}
      >
        {title}
        <span aria-hidden>{MARKS[direction]}</span>
      </button>
    </th>
  );
}

function kindOf<Row>({ number, tight }: Column<Row>): { className?: string } {
  if (number) return { className: "number" };
  return tight ? { className: "tight" } : {};
}
