// What went wrong lately, with the way to it.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { Dot, type Tone } from "../../../parts/Dot";
import { count, moment, NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { BatchLink } from "../Links";
import { Section } from "../Section";

type Incident = Schemas["Incident"];

const WORDS: Record<Incident["kind"], { word: string; tone: Tone }> = {
  worker_died: { word: "worker died", tone: "bad" },
  worker_killed: { word: "worker killed", tone: "late" },
  worker_start_failed: { word: "start failed", tone: "bad" },
  batch_late: { word: "batch late", tone: "late" },
  requests_failed: { word: "requests failed", tone: "bad" },
};

export function Incidents({ incidents }: { incidents: Incident[] }) {
  return (
    <Section title="Last incidents">
      {incidents.length === 0 ? (
        <Text size="sm" c="dimmed">
          None: no batch was late, no request failed, no worker died in the last 30 days.
        </Text>
      ) : (
        <Grid
          caption="What went wrong lately"
          columns={[
            { title: "When", tight: true, cell: ({ at }) => moment(at) },
            {
              title: "What",
              cell: ({ kind }) => <Dot tone={WORDS[kind].tone}>{WORDS[kind].word}</Dot>,
            },
            { title: "Where", cell: (incident) => <Where incident={incident} /> },
            { title: "Times", number: true, cell: ({ count: times }) => count(times) },
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

function Where({ incident: { batch, run, pool } }: { incident: Incident }) {
  if (batch) return <BatchLink id={batch}>{run ?? "batch"}</BatchLink>;
  return pool ?? run ?? NONE;
}
