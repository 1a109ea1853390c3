// The column by which a table is sorted, in the URL. The code that sorts is loaded with the tables alone.

import { present, textOf } from "./search";

/** A column by its name in the URL. */
interface Sorting {
  id: string;
  desc: boolean;
}

/** URL state of a sorted list. */
export interface SortSearch {
  /** A column such as `mean-reward`, with `-` before it for descending order. */
  sort?: string;
}

export function sortSearch(search: Record<string, unknown>): SortSearch {
  const sort = textOf(search, "sort");
  return present({ sort: sort && /^-?[a-z0-9][a-z0-9-]{0,40}$/.test(sort) ? sort : undefined });
}

/** Name of a column in the URL: `mean-reward` for `Mean reward`. */
export function columnId(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

export function sortingOf(sort: string | undefined): Sorting[] {
  if (!sort) return [];
  const desc = sort.startsWith("-");
  return [{ id: desc ? sort.slice(1) : sort, desc }];
}
