// The last batches that have ended, with their rewards and lateness.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { BatchTable } from "../batches/BatchTable";
import { PageLink } from "../Links";
import { Section } from "../Section";

export function RecentBatches({ batches }: { batches: Schemas["BatchSummary"][] }) {
  return (
    <Section
      title="Recent batches"
      about="The last batches that have ended."
      actions={
        <PageLink to="/batches" size="sm">
          All batches
        </PageLink>
      }
    >
      {batches.length === 0 ? (
        <Text size="sm" c="dimmed">
          No batch has ended yet
        </Text>
      ) : (
        <BatchTable caption="Recent batches" batches={batches} />
      )}
    </Section>
  );
}
