// A share as a bar with its numbers.

import { Group, Progress, Text } from "@mantine/core";

export function Share(props: {
  /** Accessible name of the bar. */
  label: string;
  value: number;
  of: number;
  text: string;
}) {
  const { label, value, of, text } = props;
  const percent = of > 0 ? Math.min((value / of) * 100, 100) : 0;
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress.Root size="md" w={90} style={{ flex: "none" }}>
        <Progress.Section value={percent} aria-label={label} aria-valuetext={text} />
      </Progress.Root>
      <Text span size="sm" style={{ whiteSpace: "nowrap" }}>
        {text}
      </Text>
    </Group>
  );
}
