// Live batches, most urgent first.

import { Group, Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { useSession } from "../../../api/session";
import { Badge, Status } from "../../../parts/Badge";
import { ago, count, NONE, span } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { serverNow, useNow } from "../../../parts/now";
import { ExplainDeadline } from "../Deadline";
import { deadlineStatus, waitsForRequests } from "../due";
import { BatchLink, PluginLink, RunLink } from "../Links";
import { Section } from "../Section";
import { Share } from "../Share";

type LiveBatch = Schemas["LiveBatch"];

export function LiveBatches(props: {
  batches: LiveBatch[];
  total: number;
  tenants: boolean;
  /** The server's time of the batches. */
  at: string;
  /** Time at which they were read, by the clock of this computer. */
  readAt: number;
}) {
  const { batches, total, tenants, at, readAt } = props;
  const now = serverNow(at, readAt, useNow());
  const { tenant } = useSession();
  /** Pages of another tenant's batches are not found. */
  const isOwn = (batch: LiveBatch) => batch.tenant === tenant;
  const columns: Column<LiveBatch>[] = [
    ...(tenants ? [{ title: "Tenant", cell: (batch: LiveBatch) => batch.tenant }] : []),
    {
      title: "Run",
      cell: (batch) => (isOwn(batch) ? <RunLink run={batch.run} /> : <Name text={batch.run} />),
    },
    {
      title: "Iteration",
      number: true,
      opens: true,
      cell: (batch) =>
        isOwn(batch) ? <BatchLink id={batch.id}>{batch.iteration}</BatchLink> : batch.iteration,
    },
    {
      title: "Plugin",
      cell: (batch) =>
        isOwn(batch) ? <PluginLink plugin={batch.plugin} /> : <Name text={batch.plugin} />,
    },
    { title: "State", cell: ({ state }) => <Status kind={state} /> },
    { title: "Finished", cell: (batch) => <FinishedCell batch={batch} /> },
    { title: "Queued", number: true, cell: ({ queued }) => count(queued) },
    { title: "Running", number: true, cell: ({ running }) => count(running) },
    {
      title: "Deadline in",
      hint: "Time left until the ideal end plus the delay tolerance (T + D)",
      tight: true,
      cell: (batch) => <DeadlineCell batch={batch} now={now} />,
    },
    {
      title: "Expected end",
      tight: true,
      cell: (batch) => (waitsForRequests(batch) ? NONE : soonOr(batch.estimated_done_at, now)),
    },
  ];
  return (
    <Section
      title="Live batches"
      about={
        batches.length < total
          ? `The ${batches.length} most urgent of ${count(total)}.`
          : "Most urgent first."
      }
      actions={
        <Group gap={4}>
          <Text size="xs" c="dimmed">
            Deadline = T + D
          </Text>
          <ExplainDeadline />
        </Group>
      }
    >
      {batches.length === 0 ? (
        <Text size="sm" c="dimmed">
          No live batches
        </Text>
      ) : (
        <Grid
          caption="Live batches"
          columns={columns}
          rows={batches}
          rowKey={(batch) => batch.id}
          maxHeight={420}
        />
      )}
    </Section>
  );
}

/** An expected end in the past is due at any moment. */
function soonOr(at: string | null | undefined, now: number): string {
  return at && Date.parse(at) < now ? "any moment" : ago(at, now);
}

function FinishedCell({ batch }: { batch: LiveBatch }) {
  const { scored, timed_out, error, submitted } = batch.counts;
  const finished = scored + timed_out + error;
  const of = batch.expected_size ?? submitted;
  const failed = error > 0 ? `, ${count(error)} failed` : "";
  return (
    <Share
      label={`Finished requests of ${batch.run} ${batch.iteration}`}
      value={finished}
      of={of}
      text={`${count(finished)} of ${count(of)}${failed}`}
    />
  );
}

function DeadlineCell({ batch, now }: { batch: LiveBatch; now: number }) {
  const status = deadlineStatus(batch, now);
  if (!status) return NONE;
  return (
    <>
      {status.late || status.silent ? (
        <Badge tone="late">{status.text}</Badge>
      ) : (
        <Text size="sm">{status.text}</Text>
      )}
      <Text size="xs" c="dimmed">
        {status.note ?? `tolerance ${span(batch.tolerance_ms)}`}
      </Text>
    </>
  );
}
