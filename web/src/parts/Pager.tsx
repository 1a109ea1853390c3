// Buttons for the next and the first page. The browser's Back button returns to the previous page.

import { Button, Group, Text } from "@mantine/core";

export function Pager<Cursor>(props: {
  /** Cursor of this page; undefined on the first page. */
  after: Cursor | undefined;
  next: Cursor | null | undefined;
  onGo: (after: Cursor | undefined) => void;
}) {
  const { after, next, onGo } = props;
  if (after === undefined && next == null) return null;
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
      {next == null && (
        <Text size="xs" c="dimmed">
          This is the last page.
        </Text>
      )}
    </Group>
  );
}
