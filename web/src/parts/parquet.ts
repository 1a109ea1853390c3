// A table as a Parquet file. Loaded only when somebody exports one.

import { parquetWriteBuffer } from "hyparquet-writer";
import type { Cell } from "./exports";

/**
 * The columns of numbers are DOUBLE, those of booleans BOOLEAN, all others UTF-8 text. All cells may be null.
 * `rows` have one cell a column.
 */
export function parquetFile(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): ArrayBuffer {
  return parquetWriteBuffer({
    columnData: columns.map((name, at) => {
      const cells = rows.map((row) => row[at] ?? null);
      const type = typeOf(cells);
      return { name, type, data: type === "STRING" ? cells.map(text) : cells };
    }),
  });
}

function typeOf(cells: readonly (Cell | null)[]): "DOUBLE" | "BOOLEAN" | "STRING" {
  const kinds = new Set(cells.filter((cell) => cell != null).map((cell) => typeof cell));
  if (kinds.size !== 1) return "STRING";
  if (kinds.has("number")) return "DOUBLE";
  return kinds.has("boolean") ? "BOOLEAN" : "STRING";
}

function text(cell: Cell): string | null {
  return cell == null ? null : String(cell);
}
