// What is shown instead of an answer: it loads, there is nothing, it failed; and what to do then.

import { Alert, Button, Code, Paper, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemError } from "../api/client";

export function Loading({ what, height = 160 }: { what: string; height?: number }) {
  return (
    <div role="status" aria-label={`Loading ${what}`}>
      <Skeleton height={height} />
    </div>
  );
}

/** Nothing is there yet; `children` says how something comes to be. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="lg">
      <Stack gap="xs" align="flex-start">
        <Text fw={600}>{title}</Text>
        {children && (
          <Text c="dimmed" size="sm" component="div">
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

export function Failed({ thrown, again }: { thrown: unknown; again?: () => void }) {
  const problem = ProblemError.from(thrown);
  return (
    <Alert color="red" variant="outline" title={problem.message} role="alert">
      <Stack gap="xs" align="flex-start">
        {problem.hint && <Text size="sm">{problem.hint}</Text>}
        <Text size="sm" c="dimmed">
          Code <Code>{problem.code}</Code>
        </Text>
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** A query's answer, or what stands in for it. An answer that is there stays while a newer fails. */
export function Answer<T>(props: {
  query: UseQueryResult<T>;
  /** What loads, in words: `the run's iterations`. */
  what: string;
  height?: number;
  children: (answer: T) => ReactNode;
}) {
  const { query, what, height, children } = props;
  const again = () => void query.refetch();
  if (query.data === undefined) {
    if (query.isError) return <Failed thrown={query.error} again={again} />;
    return <Loading what={what} {...(height === undefined ? {} : { height })} />;
  }
  return (
    <>
      {query.isError && <Failed thrown={query.error} again={again} />}
      {children(query.data)}
    </>
  );
}
