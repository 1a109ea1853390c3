// URL state of the administration pages: the tab and its filters.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { type RowsSearch, rowsSearch } from "../../parts/rows";
import { present, textOf, wholeOf } from "../../parts/search";
import { type SortSearch, sortSearch } from "../../parts/sortSearch";

export interface AdminSearch extends RowsSearch, SortSearch {
  tab?: string;
  /** Period of the usage tab, in days. */
  days?: number;
  /** Search text and cursor of a list. */
  q?: string;
  after?: string;
  /** Filters of the audit log. */
  action?: string;
  actor?: string;
  /** A date, such as 2026-01-31. */
  since?: string;
  before?: number;
}

export function adminSearch(search: Record<string, unknown>): AdminSearch {
  const since = textOf(search, "since");
  return present({
    tab: textOf(search, "tab"),
    days: wholeOf(search, "days"),
    q: textOf(search, "q"),
    after: textOf(search, "after"),
    action: textOf(search, "action"),
    actor: textOf(search, "actor"),
    since: since && /^\d{4}-\d{2}-\d{2}$/.test(since) ? since : undefined,
    before: wholeOf(search, "before"),
    ...rowsSearch(search),
    ...sortSearch(search),
  });
}

export function useAdminSearch() {
  const search: AdminSearch = adminSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const set = (next: AdminSearch) => void navigate({ to: ".", search: present(next) });
  return { search, set };
}
