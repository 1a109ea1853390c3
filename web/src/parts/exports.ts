// Exports rows as CSV, JSON Lines or Parquet. The text of a page of rows becomes a part of the file, which the
// browser keeps out of the memory of the page. A Parquet file is written at once, by columns.

import { elementsOf, memberOf } from "./json";

export type Format = "csv" | "jsonl" | "parquet";
export type Cell = string | number | boolean | null | undefined;

/** The most rows of one file. */
export const EXPORT_ROWS_MAX = 200_000;

export interface ExportPage<Cursor> {
  items: readonly object[];
  /** The JSON of each row as the server wrote it, with all digits of its numbers; absent where it is not known. */
  lines?: readonly string[];
  next?: Cursor | null | undefined;
}

/** Reads a page from the JSON of an answer. */
export function pageOf<Cursor>(json: string): ExportPage<Cursor> {
  const { items, next } = JSON.parse(json) as ExportPage<Cursor>;
  return { items, lines: elementsOf(memberOf(json, "items") ?? ""), next };
}

/**
 * The start of a formula: at the start of the text, or after a separator. Some spreadsheets separate cells by
 * semicolons or tabs, or without regard to quotes. Space and quotes before a formula do not hide it.
 */
const FORMULA = /((?:^|[,;\t|\r\n])[\s"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Quotes as RFC 4180 says. Where a spreadsheet would run a part of a text as a formula, an apostrophe comes before
 * it, because texts of tenants may be hostile.
 */
export function csvCell(value: Cell): string {
  if (value == null) return "";
  if (typeof value !== "string") return String(value);
  const text = value.replace(FORMULA, "$1'");
  return /[",;\t|\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** The value at a path such as `batch.counts.scored`; objects and lists become JSON as it stands in `line`. */
export function valueAt(row: object, path: string, line: string): Cell {
  let value: unknown = row;
  for (const name of path.split(".")) {
    if (value == null || typeof value !== "object") return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  if (value === null || typeof value !== "object") return value as Cell;
  return path.split(".").reduce((json, name) => memberOf(json, name) ?? "", line);
}

/** The parts of a file, for CSV and JSON Lines one a page. */
export async function* exported<Cursor>(
  format: Format,
  columns: readonly string[],
  read: (after: Cursor | undefined) => Promise<ExportPage<Cursor>>,
  /** Called if there are more rows than a file has. */
  cut: () => void = () => {},
): AsyncGenerator<BlobPart> {
  const rows: Cell[][] = [];
  if (format === "csv") yield csvLine(columns);
  for await (const { items, lines } of pagesOf(read, cut)) {
    const cells = (row: object, at: number) =>
      columns.map((path) => valueAt(row, path, lines[at] ?? ""));
    if (format === "csv") yield items.map((row, at) => csvLine(cells(row, at))).join("");
    else if (format === "jsonl") yield lines.map((line) => `${line}\n`).join("");
    else for (const [at, row] of items.entries()) rows.push(cells(row, at));
  }
  if (format === "parquet") yield await parquet(columns, rows);
}

/** A file of rows that are all there. */
export async function* fileOf(
  format: Format,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): AsyncGenerator<BlobPart> {
  if (format === "csv") yield [columns, ...rows].map(csvLine).join("");
  else if (format === "parquet") yield await parquet(columns, rows);
  else {
    const named = (row: readonly Cell[]) =>
      Object.fromEntries(columns.map((name, at) => [name, row[at]]));
    yield rows.map((row) => `${JSON.stringify(named(row))}\n`).join("");
  }
}

async function parquet(columns: readonly string[], rows: readonly (readonly Cell[])[]) {
  const { parquetFile } = await import("./parquet");
  return parquetFile(columns, rows);
}

/** The pages of a list up to `EXPORT_ROWS_MAX` rows. */
async function* pagesOf<Cursor>(
  read: (after: Cursor | undefined) => Promise<ExportPage<Cursor>>,
  cut: () => void,
): AsyncGenerator<{ items: readonly object[]; lines: readonly string[] }> {
  let after: Cursor | undefined;
  for (let rows = 0; rows < EXPORT_ROWS_MAX; ) {
    const { items, next, lines } = await read(after);
    yield { items, lines: lines ?? items.map((row) => JSON.stringify(row)) };
    rows += items.length;
    if (next == null || items.length === 0) return;
    after = next;
  }
  cut();
}

const TYPES: Record<Format, string> = {
  csv: "text/csv",
  jsonl: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
};

/** Saves the parts as one file of the browser's downloads. */
export async function save(name: string, format: Format, file: AsyncIterable<BlobPart>) {
  const parts: Blob[] = [];
  for await (const part of file) parts.push(new Blob([part]));
  const url = URL.createObjectURL(new Blob(parts, { type: TYPES[format] }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\w.-]+/g, "-")}.${format}`;
  link.click();
  URL.revokeObjectURL(url);
}
