// A list of the administration: a search field, the rows, and a pager. Search and cursor are in the URL.

import { Group, Stack } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Export } from "../../parts/Export";
import { Pager } from "../../parts/Pager";
import { present } from "../../parts/search";
import { Answer, NoMatch } from "../../parts/states";
import { TextFilter } from "../../parts/TextFilter";
import type { Exported } from "./exported";
import type { Listed } from "./queries";
import { useAdminSearch } from "./tabs";

/** The part of the list that the URL names. */
export function useListed(): Listed {
  const { q, after, rows } = useAdminSearch().search;
  return present({ q, after, rows });
}

interface ListPage<Row> {
  items: Row[];
  next?: string | null;
}

export function SearchedList<Row>(props: {
  query: UseQueryResult<ListPage<Row>>;
  /** Name of the data, such as `the keys`. */
  what: string;
  /** Label of the search field: the names that are searched. */
  label: string;
  /** Shown in place of a list that has no rows at all. */
  empty: ReactNode;
  /** Buttons beside the search field. */
  actions?: ReactNode;
  /** How the whole list is saved as a file. */
  exported: Exported;
  /** `more`: whether the list has rows that are not loaded. */
  children: (rows: Row[], more: boolean) => ReactNode;
}) {
  const { query, what, label, empty, actions, exported, children } = props;
  const { search, set } = useAdminSearch();
  const others = present({ ...search, q: undefined, after: undefined });
  return (
    <Stack align="stretch">
      <Group align="end" gap="sm">
        <TextFilter
          label={label}
          value={search.q}
          onChange={(q) => set(present({ ...others, q }))}
        />
        {actions}
        <Export {...exported} />
      </Group>
      <Answer query={query} what={what}>
        {({ items, next }) =>
          items.length > 0 ? (
            <Stack gap="sm">
              {children(items, next != null || search.after !== undefined)}
              <Pager
                after={search.after}
                next={next}
                onGo={(after) => set(present({ ...search, after }))}
                rows={search.rows}
                onRows={(rows) => set(present({ ...search, after: undefined, rows }))}
              />
            </Stack>
          ) : search.q || search.after ? (
            <NoMatch title="No matching rows" clear={() => set(others)} />
          ) : (
            empty
          )
        }
      </Answer>
    </Stack>
  );
}
