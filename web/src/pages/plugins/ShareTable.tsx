// A table of counts by name, with bars for their shares.

import { count, percent } from "../../parts/format";
import { Grid } from "../../parts/Grid";

export function ShareTable({ caption, of, counts }: Props) {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const total = rows.reduce((sum, [, requests]) => sum + requests, 0);
  return (
    <Grid
      caption={caption}
      rows={rows}
      rowKey={([word]) => word}
      columns={[
        {
          title: of,
          cell: ([word, requests]) => <NameWithBar word={word} share={requests / total} />,
        },
        { title: "Requests", number: true, cell: ([, requests]) => count(requests) },
        { title: "Share", number: true, cell: ([, requests]) => percent(requests / total) },
      ]}
    />
  );
}

interface Props {
  caption: string;
  /** Title of the name column. */
  of: string;
  counts: Record<string, number>;
}

/** A name with its share as a bar below it. */
function NameWithBar({ word, share }: { word: string; share: number }) {
  const width = `${Math.max(0.5, share * 100)}%`;
  return (
    <>
      <span style={{ overflowWrap: "anywhere" }}>{word}</span>
      <div aria-hidden style={{ width, height: 4, background: "var(--assay-bar)" }} />
    </>
  );
}
