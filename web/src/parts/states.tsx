// States of a query other than data: loading, empty, no match and error.

import { Alert, Button, Code, Group, Paper, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemError } from "../api/client";
import { Icon } from "./Icon";

/** A heading and the lines of a table, which is what most pages come as. */
export function Loading({ what, height = 160 }: { what: string; height?: number }) {
  const lines = Math.max(1, Math.floor((height - HEAD_HEIGHT) / LINE_HEIGHT));
  return (
    <div role="status" aria-label={`Loading ${what}`} style={{ height }}>
      <Skeleton height={16} width="30%" mb={HEAD_HEIGHT - 16} />
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <Skeleton key={at} height={12} mb={LINE_HEIGHT - 12} />
      ))}
    </div>
  );
}

const HEAD_HEIGHT = 32;
const LINE_HEIGHT = 32;

/** No data yet; `children` explains how to create some. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="lg">
      <Group gap="md" align="flex-start" wrap="nowrap">
        <Text c="dimmed" component="span" style={{ flex: "none" }}>
          <Icon name="empty" size={28} />
        </Text>
        <Stack gap="xs" align="flex-start" miw={0}>
          <Text fw={600}>{title}</Text>
          {children && (
            <Text c="dimmed" size="sm" component="div" maw="100%">
              {children}
            </Text>
          )}
        </Stack>
      </Group>
    </Paper>
  );
}

/** No row matches the filters. */
export function NoMatch({ title, clear }: { title: string; clear: () => void }) {
  return (
    <Empty title={title}>
      <Button size="xs" variant="default" onClick={clear}>
        Clear filters
      </Button>
    </Empty>
  );
}

export function Failed({ thrown, retry }: { thrown: unknown; retry?: () => void }) {
  const problem = ProblemError.from(thrown);
  return (
    <Alert color="red" variant="outline" title={capitalised(problem.message)} role="alert">
      <Stack gap="xs" align="flex-start">
        {problem.hint && <Text size="sm">{problem.hint}</Text>}
        <Text size="sm" c="dimmed">
          Code <Code>{problem.code}</Code>
        </Text>
        {retry && mayPass(problem) && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Whether the same call may succeed later; a refusal is final. */
function mayPass({ status }: ProblemError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** Messages of the server start in lower case. */
function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shows the data of a query, or its state. Existing data stays visible if a refresh fails. */
export function Answer<T>(props: {
  query: UseQueryResult<T>;
  /** Name of the data, such as `the run's iterations`. */
  what: string;
  height?: number;
  children: (answer: T) => ReactNode;
}) {
  const { query, what, height, children } = props;
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    if (query.isError) return <Failed thrown={query.error} retry={retry} />;
    return <Loading what={what} {...(height === undefined ? {} : { height })} />;
  }
  return (
    <>
      {query.isError && <Failed thrown={query.error} retry={retry} />}
      {children(query.data)}
    </>
  );
}
