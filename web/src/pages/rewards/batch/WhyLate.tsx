// Why a batch ended when it did: what its last request and the critical one went through.

import { Text } from "@mantine/core";
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
      cell: ({ of, delay }) => <RequestLink id={`${batch}.${delay.seq}`}>{of}</RequestLink>,
    },
    ...last.waits.map(
      ({ stage, pool }): Column<Row> => ({
        title: `Waited for ${stage} (${pool})`,
        number: true,
        cell: ({ delay }) => waited(delay, stage),
      }),
    ),
    { title: "Beside stages", number: true, cell: ({ delay }) => span(delay.rest_ms) },
    { title: "Slack to T", number: true, cell: ({ delay }) => span(delay.slack_ms) },
  ];
  return (
    <Section title={lateness.late ? "Why late?" : "Where the time went"}>
      <Text size="sm">{lateness.reason}</Text>
      <Grid
        caption="What kept the last and the critical request"
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
  return retries > 0 ? `${span(queued_ms)}, retried ${retries} ×` : span(queued_ms);
}
