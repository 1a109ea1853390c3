// Buttons for the next and the first page, and the number of rows on a page. The browser's Back button
// returns to the previous page.

import { Button, Group, NativeSelect, Text } from "@mantine/core";
import { count } from "./format";
import { ROWS, ROWS_DEFAULT } from "./rows";

export function Pager<Cursor>(props: {
  /** Cursor of this page; undefined on the first page. */
  after: Cursor | undefined;
  next: Cursor | null | undefined;
  onGo: (after: Cursor | undefined) => void;
  /** Rows per page, if not the default. */
  rows?: number | undefined;
  /** Absent where the number of rows is fixed. */
  onRows?: (rows: number | undefined) => void;
}) {
  const { after, next, onGo, rows, onRows } = props;
  if (after === undefined && next == null && rows === undefined) return null;
  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant="default"
        disabled={after === undefined}
        onClick={() => onGo(undefined)}
      >
        First page
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next == null}
        onClick={() => next != null && onGo(next)}
      >
        Next page
      </Button>
      {onRows && (
        <NativeSelect
          size="xs"
          aria-label="Rows per page"
          data={ROWS.map((value) => ({ value: String(value), label: `${count(value)} rows` }))}
          value={String(rows ?? ROWS_DEFAULT)}
          onChange={({ currentTarget }) => {
            const chosen = Number(currentTarget.value);
            onRows(chosen === ROWS_DEFAULT ? undefined : chosen);
          }}
        />
      )}
      {next == null && (
        <Text size="xs" c="dimmed">
          This is the last page.
        </Text>
      )}
    </Group>
  );
}
