// The body of a long table: only the rows in view are elements, between two rows that keep the height of
// the others.

import { useVirtualizer } from "@tanstack/react-virtual";
import type { ReactNode } from "react";

/** Height of a row before it is measured. */
const ROW_HEIGHT = 31;
/** Rows above and below the view, so that the Tab key finds the next one. */
const OVERSCAN = 10;

export function VirtualRows<Row>(props: {
  /** The element that scrolls; null before it is in the document. */
  frame: HTMLElement | null;
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  cells: (row: Row) => ReactNode;
  columns: number;
}) {
  const { frame, rows, rowKey, cells, columns } = props;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const shown = virtualizer.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <tbody>
      <Space height={above} columns={columns} />
      {shown.map(({ index }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <tr
            key={rowKey(row)}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-rowindex={index + 2}
          >
            {cells(row)}
          </tr>
        );
      })}
      <Space height={below} columns={columns} />
    </tbody>
  );
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td className="space" colSpan={columns} style={{ height }} />
    </tr>
  );
}
