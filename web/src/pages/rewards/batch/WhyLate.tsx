// Delays of the last and the critical request of a batch.

import { Code, Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { NONE, span } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { RequestLink } from "../Links";
import { Section } from "../Section";

type Delay = Schemas["RequestDelay"];
type Row = { of: string; delay: Delay };

export function WhyLate({ lateness, batch }: { lateness: Schemas["Lateness"]; batch: string }) {
  const { last, critical } = lateness;
  const rows: Row[] =
    last.seq === critical.seq
      ? [{ of: "ended last, critical", delay: last }]
      : [
          { of: "ended last", delay: last },
          { of: "critical", delay: critical },
        ];
  const columns: Column<Row>[] = [
    {
      title: "Request",
      opens: true,
      cell: ({ of, delay }) => <RequestLink id={`${batch}.${delay.seq}`}>{of}</RequestLink>,
    },
    ...last.waits.map(
      ({ stage, pool }): Column<Row> => ({
        title: `Waited for ${stage} (${pool})`,
        number: true,
        cell: ({ delay }) => waited(delay, stage),
      }),
    ),
    {
      title: "Overhead",
      hint: "Time from the end of the last stage to the end of the request",
      number: true,
      cell: ({ delay }) => span(delay.rest_ms),
    },
    {
      title: "Slack",
      hint: "How much earlier than the ideal end (T) the request could have ended",
      number: true,
      cell: ({ delay }) => span(delay.slack_ms),
    },
  ];
  return (
    <Section title={lateness.late ? "Why late?" : "Where the time went"}>
      <Text size="sm">
        {lateness.reason
          .split("`")
          .map((part, at) => (at % 2 === 1 ? <Code key={part}>{part}</Code> : part))}
      </Text>
      <Grid
        caption="Delays of the last and the critical request"
        columns={columns}
        rows={rows}
        rowKey={({ of }) => of}
      />
    </Section>
  );
}

function waited(delay: Delay, stage: string): string {
  const wait = delay.waits.find((one) => one.stage === stage);
  if (!wait) return NONE;
  const { queued_ms, retries } = wait;
  return retries > 0 ? `${span(queued_ms)}, retries: ${retries}` : span(queued_ms);
}
