// Shares of a whole as a table with bars.

import { count, percent } from "../../parts/format";
import { Grid } from "../../parts/Grid";

export function Mix({ caption, of, counts }: Props) {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const total = rows.reduce((sum, [, requests]) => sum + requests, 0);
  return (
    <Grid
      caption={caption}
      rows={rows}
      rowKey={([word]) => word}
      columns={[
        { title: of, cell: ([word, requests]) => <Barred word={word} share={requests / total} /> },
        { title: "Requests", number: true, cell: ([, requests]) => count(requests) },
        { title: "Share", number: true, cell: ([, requests]) => percent(requests / total) },
      ]}
    />
  );
}

interface Props {
  caption: string;
  /** What a row is. */
  of: string;
  counts: Record<string, number>;
}

/** The word with its share drawn below it. */
function Barred({ word, share }: { word: string; share: number }) {
  const width = `${Math.max(0.5, share * 100)}%`;
  return (
    <>
      <span style={{ overflowWrap: "anywhere" }}>{word}</span>
      <div aria-hidden style={{ width, height: 4, background: "var(--assay-bar)" }} />
    </>
  );
}
