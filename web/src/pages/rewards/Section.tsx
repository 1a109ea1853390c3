// A section of a page with a heading.

import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

export function Section(props: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, about, actions, children } = props;
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Stack gap="xs">
        <Group justify="space-between" align="start" gap="sm">
          <div>
            <Title order={2} id={id}>
              {title}
            </Title>
            {about && (
              <Text size="sm" c="dimmed" component="div">
                {about}
              </Text>
            )}
          </div>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
