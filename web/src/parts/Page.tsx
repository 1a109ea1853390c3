// The layout of a page: breadcrumbs, title and actions.

import { Anchor, Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { visible } from "./names";

export interface Crumb {
  label: string;
  /** Path in this dashboard. */
  to: string;
}

export function Page(props: {
  title: string;
  /** What is going on, such as `3 live`, before the title in the browser's tab. */
  state?: string | undefined;
  about?: ReactNode;
  crumbs?: Crumb[];
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, state, about, crumbs = [], actions, children } = props;
  useEffect(() => {
    document.title = `${state ? `${state} · ` : ""}${visible(title)} · Assay`;
  }, [title, state]);
  return (
    <Stack gap="md">
      <Stack gap={4}>
        {crumbs.length > 0 && (
          <Breadcrumbs component="nav" aria-label="Breadcrumbs">
            {crumbs.map((crumb) => (
              <Anchor key={crumb.to} component={Link} to={crumb.to} size="sm">
                <bdi>{visible(crumb.label)}</bdi>
              </Anchor>
            ))}
          </Breadcrumbs>
        )}
        <Group justify="space-between" align="start" gap="sm">
          <Title order={1} style={{ overflowWrap: "anywhere" }}>
            <bdi>{visible(title)}</bdi>
          </Title>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {about && (
          <Text c="dimmed" size="sm" component="div">
            {about}
          </Text>
        )}
      </Stack>
      {children}
    </Stack>
  );
}
