// Queued and running requests by stage.

import type { Schemas } from "../../../api/client";
import { count } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { PluginLink } from "../Links";
import { Section } from "../Section";
import { Share } from "../Share";

type StageQueue = Schemas["StageQueue"];

export function StageQueues({ queue }: { queue: StageQueue[] }) {
  const most = Math.max(...queue.map(({ queued }) => queued), 1);
  return (
    <Section title="Queue by stage" about="Includes single requests.">
      <Grid
        caption="Requests by stage"
        columns={[
          { title: "Plugin", cell: ({ plugin }) => <PluginLink plugin={plugin} /> },
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
    </Section>
  );
}
