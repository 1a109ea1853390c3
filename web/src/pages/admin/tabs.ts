// What the address of an administration page says: the tab, and the filters of what is on it.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { present, textOf, wholeOf } from "../../parts/search";

export interface AdminSearch {
  tab?: string;
  /** Of usage. */
  days?: number;
  /** Of the audit. */
  action?: string;
  actor?: string;
  /** A day, such as 2026-01-31. */
  since?: string;
  before?: number;
}

export function adminSearch(search: Record<string, unknown>): AdminSearch {
  const since = textOf(search, "since");
  return present({
    tab: textOf(search, "tab"),
    days: wholeOf(search, "days"),
    action: textOf(search, "action"),
    actor: textOf(search, "actor"),
    since: since && /^\d{4}-\d{2}-\d{2}$/.test(since) ? since : undefined,
    before: wholeOf(search, "before"),
  });
}

export function useAdminSearch() {
  const search: AdminSearch = adminSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const set = (next: AdminSearch) => void navigate({ to: ".", search: present(next) });
  return { search, set };
}
