// The layout of pages that need no session.

import { Center, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

export function Entry(props: { title: string; about?: string; children: ReactNode }) {
  const { title, about, children } = props;
  useEffect(() => {
    document.title = `${title} · Assay`;
  }, [title]);
  return (
    <Center component="main" mih="90vh" p="md">
      <Paper withBorder p="xl" w={420}>
        <Stack>
          <Group gap="sm">
            <img src="/assay.svg" alt="" width={32} height={32} />
            <Title order={1}>{title}</Title>
          </Group>
          {about && (
            <Text size="sm" c="dimmed">
              {about}
            </Text>
          )}
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
