// The number of rows on a page of a list. The interface answers at most 500 at once, so that a larger page
// is read by several calls.

import { present, wholeOf } from "./search";

export const ROWS_DEFAULT = 50;
export const ROWS = [ROWS_DEFAULT, 500, 2_500] as const;
const CALL_MAX = 500;

/** URL state of a list with pages. */
export interface RowsSearch {
  /** Rows per page, if not the default. */
  rows?: number;
}

export function rowsSearch(search: Record<string, unknown>): RowsSearch {
  const rows = wholeOf(search, "rows");
  return present({ rows: ROWS.find((one) => one === rows && one !== ROWS_DEFAULT) });
}

interface Part<Row, Cursor> {
  items: Row[];
  next?: Cursor | null | undefined;
}

/** Reads rows from a cursor on, until there are as many as wanted or the list ends. */
export async function readRows<Row, Cursor>(
  read: (after: Cursor | undefined, limit: number) => Promise<Part<Row, Cursor>>,
  after: Cursor | undefined,
  rows: number = ROWS_DEFAULT,
): Promise<{ items: Row[]; next: Cursor | undefined }> {
  const items: Row[] = [];
  let next = after;
  do {
    const part = await read(next, Math.min(rows - items.length, CALL_MAX));
    items.push(...part.items);
    next = part.items.length > 0 ? (part.next ?? undefined) : undefined;
  } while (next !== undefined && items.length < rows);
  return { items, next };
}
