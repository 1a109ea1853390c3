// A quota with its current use.

import { Group, Progress, Stack, Text } from "@mantine/core";

export function Meter(props: {
  label: string;
  used: number;
  /** Null: no limit. */
  max: number | null | undefined;
  format: (value: number) => string;
  about?: string;
}) {
  const { label, used, max, format, about } = props;
  const share = max == null ? 0 : max === 0 ? 100 : Math.min(100, (used / max) * 100);
  const full = max != null && used >= max;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="sm">
          {format(used)} {max == null ? "used, no limit" : `of ${format(max)}`}
          {full ? ", limit reached" : ""}
        </Text>
      </Group>
      {max != null && (
        <Progress.Root size="md">
          <Progress.Section
            value={share}
            color={full ? "var(--assay-bad)" : "cyan.9"}
            // The default role description would be read as percents.
            withAria={false}
            role="progressbar"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(share)}
            aria-label={label}
            aria-valuetext={`${format(used)} of ${format(max)}`}
          />
        </Progress.Root>
      )}
      {about && (
        <Text size="xs" c="dimmed">
          {about}
        </Text>
      )}
    </Stack>
  );
}
