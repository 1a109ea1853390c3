// Promotions and rollbacks of the run's plugin: the marks of the charts as a table.

import { moment, NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { Section } from "../Section";
import type { Promotion } from "./drift";

export function Promotions({ promotions }: { promotions: readonly Promotion[] }) {
  if (promotions.length === 0) return null;
  const rows = promotions.map((promotion, at) => ({ ...promotion, key: at })).reverse();
  return (
    <Section
      title="Promotions"
      about="Dashed vertical lines in the charts. The run itself keeps the version that it began with."
    >
      <Grid
        caption="Promotions of the plugin"
        maxHeight={320}
        columns={[
          { title: "Time", tight: true, cell: ({ at }) => moment(at) },
          { title: "Channel", cell: ({ channel }) => <Name text={channel} /> },
          { title: "Version", tight: true, cell: ({ version }) => version },
          { title: "Version before", tight: true, cell: ({ before }) => before ?? NONE },
          { title: "Change", cell: ({ rollback }) => (rollback ? "rollback" : "promotion") },
        ]}
        rows={rows}
        rowKey={({ key }) => key}
      />
    </Section>
  );
}
