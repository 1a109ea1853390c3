// Recent incidents with links.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { Dot, type Tone } from "../../../parts/Dot";
import { count, moment, NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { BatchLink } from "../Links";
import { Section } from "../Section";

type Incident = Schemas["Incident"];

const KINDS: Record<Incident["kind"], { label: string; tone: Tone }> = {
  worker_died: { label: "worker died", tone: "bad" },
  worker_killed: { label: "worker killed", tone: "late" },
  worker_start_failed: { label: "worker start failed", tone: "bad" },
  worker_starved: { label: "worker starved", tone: "late" },
  batch_late: { label: "batch late", tone: "late" },
  requests_failed: { label: "requests failed", tone: "bad" },
};

export function Incidents({ incidents }: { incidents: Incident[] }) {
  return (
    <Section title="Recent incidents">
      {incidents.length === 0 ? (
        <Text size="sm" c="dimmed">
          None in the last 30 days.
        </Text>
      ) : (
        <Grid
          caption="Recent incidents"
          columns={[
            { title: "Time", tight: true, cell: ({ at }) => moment(at) },
            {
              title: "Incident",
              cell: ({ kind }) => <Dot tone={KINDS[kind].tone}>{KINDS[kind].label}</Dot>,
            },
            { title: "Run or pool", cell: (incident) => <IncidentLink incident={incident} /> },
            { title: "Count", number: true, cell: ({ count: times }) => count(times) },
            { title: "Detail", cell: ({ detail }) => <span className="words">{detail}</span> },
          ]}
          rows={incidents}
          rowKey={({ id }) => id}
          maxHeight={360}
        />
      )}
    </Section>
  );
}

function IncidentLink({ incident: { batch, run, pool } }: { incident: Incident }) {
  if (batch) return <BatchLink id={batch}>{run ?? "batch"}</BatchLink>;
  return pool ?? run ?? NONE;
}
