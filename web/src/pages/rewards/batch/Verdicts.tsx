// Requests of a batch by verdict, each with a link to its requests.

import type { Schemas } from "../../../api/client";
import { count, percent } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { PageLink } from "../Links";
import { Section } from "../Section";
import { Share } from "../Share";
import { verdictsOf } from "./fold";

export function Verdicts({ timeline }: { timeline: Schemas["Timeline"] }) {
  const verdicts = verdictsOf(timeline.rollup?.verdicts, timeline.requests.verdict);
  const all = verdicts.reduce((sum, verdict) => sum + verdict.count, 0);
  if (all === 0) return null;
  // A live batch has no totals.
  const sampled = timeline.thinned && !timeline.rollup;
  return (
    <Section
      title="Verdicts"
      {...(sampled
        ? { about: `Counted in a sample of ${count(timeline.requests.seq.length)} requests.` }
        : {})}
    >
      <Grid
        caption="Requests by verdict"
        columns={[
          {
            title: "Verdict",
            cell: ({ name }) => (
              <PageLink
                to="/batches/$batch"
                params={{ batch: timeline.batch.id }}
                search={{ verdict: name }}
                hash="requests"
                size="sm"
              >
                {name}
              </PageLink>
            ),
          },
          {
            title: "Share",
            cell: (verdict) => (
              <Share
                label={`Share of ${verdict.name}`}
                value={verdict.count}
                of={all}
                text={percent(verdict.count / all)}
              />
            ),
          },
          { title: "Requests", number: true, cell: (verdict) => count(verdict.count) },
        ]}
        rows={verdicts}
        rowKey={({ name }) => name}
        maxHeight={320}
      />
    </Section>
  );
}
