// Sorts the loaded rows of a table by a column. The URL names the column, so that a reload keeps the order.

import { useNavigate, useSearch } from "@tanstack/react-router";
import {
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo, useRef } from "react";
import type { Column } from "./Grid";
import { present } from "./search";
import { columnId, type SortSearch, sortingOf } from "./sortSearch";

export type Direction = "ascending" | "descending" | "none";

/** The properties that the heads of a table need to sort it. Columns are named by their titles. */
export interface SortHeads {
  direction: (title: string) => Direction;
  toggle: (title: string) => void;
}

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Numbers come before texts; `sample-9` comes before `sample-10`. */
export function compare(one: unknown, two: unknown): number {
  if (typeof one === "number" && typeof two === "number") return one - two;
  if (typeof one === "number") return -1;
  if (typeof two === "number") return 1;
  return COLLATOR.compare(String(one), String(two));
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

export interface Sorted<Row> {
  rows: readonly Row[];
  heads: SortHeads;
  /** Whether the URL names a column of this table. */
  isSorted: boolean;
}

/** Rows without a value come last in both directions. */
export function useSorted<Row extends object>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Sorted<Row> {
  const { sort } = useSearch({ strict: false }) as SortSearch;
  const navigate = useNavigate();
  const ids = columns.map(({ title }) => columnId(title)).join();
  const latest = useRef(columns);
  latest.current = columns;
  // Columns are made anew with each render, and would sort the rows each time.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `ids` stands for the columns
  const definitions = useMemo(
    () =>
      columns.map(({ title, value, number }, at) => ({
        id: columnId(title),
        accessorFn: (row: Row) => latest.current[at]?.value?.(row) ?? undefined,
        enableSorting: value !== undefined,
        sortUndefined: "last" as const,
        sortDescFirst: number ?? false,
        sortFn: (
          one: { getValue: (id: string) => unknown },
          two: { getValue: (id: string) => unknown },
          id: string,
        ) => compare(one.getValue(id), two.getValue(id)),
      })),
    [ids],
  );
  const sorting = useMemo(
    () => sortingOf(sort).filter(({ id }) => ids.split(",").includes(id)),
    [sort, ids],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    state: { sorting },
    enableMultiSort: false,
    onSortingChange: (change) => {
      const [first] = typeof change === "function" ? change(sorting) : change;
      const next = first && `${first.desc ? "-" : ""}${first.id}`;
      void navigate({
        to: ".",
        search: (search) => present({ ...search, sort: next }),
        replace: true,
        resetScroll: false,
      });
    },
  });
  const direction = (title: string): Direction => {
    const sorted = table.getColumn(columnId(title))?.getIsSorted();
    return sorted ? (sorted === "desc" ? "descending" : "ascending") : "none";
  };
  return {
    rows: table.getRowModel().rows.map(({ original }) => original),
    heads: {
      direction,
      toggle: (title) => table.getColumn(columnId(title))?.toggleSorting(),
    },
    isSorted: sorting.length > 0,
  };
}
