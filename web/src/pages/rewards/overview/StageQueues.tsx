// Queued and running requests by stage.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { count } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { PluginLink } from "../Links";
import { Section } from "../Section";
import { Share } from "../Share";

type StageQueue = Schemas["StageQueue"];

export function StageQueues({ queue, tenants }: { queue: StageQueue[]; tenants: boolean }) {
  const most = Math.max(...queue.map(({ queued }) => queued), 1);
  return (
    <Section title="Queue by stage" about="Includes single requests.">
      {queue.length === 0 && (
        <Text size="sm" c="dimmed">
          No queued or running requests
        </Text>
      )}
      {queue.length > 0 && (
        <Grid
          caption="Requests by stage"
          columns={[
            {
              title: "Plugin",
              cell: ({ plugin }) =>
                tenants ? <Name text={plugin} /> : <PluginLink plugin={plugin} />,
            },
            { title: "Stage", cell: ({ stage }) => stage },
            { title: "Pool", cell: ({ pool }) => pool },
            {
              title: "Queued",
              cell: ({ plugin, stage, queued }) => (
                <Share
                  label={`Queued for ${stage} of ${plugin}`}
                  value={queued}
                  of={most}
                  text={count(queued)}
                />
              ),
            },
            { title: "Running", number: true, cell: ({ running }) => count(running) },
          ]}
          rows={queue}
          rowKey={({ plugin, stage, pool }) => `${plugin} ${stage} ${pool}`}
          maxHeight={320}
        />
      )}
    </Section>
  );
}
