// Recent incidents, those of one kind and run as one row.

import { Text } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { IncidentTable } from "../incidents/IncidentTable";
import { PageLink } from "../Links";
import { Section } from "../Section";

export function Incidents(props: { incidents: Schemas["Incident"][]; tenants: boolean }) {
  const { incidents, tenants } = props;
  return (
    <Section
      title="Recent incidents"
      actions={
        <PageLink to="/incidents" search={tenants ? { all: true } : {}} size="sm">
          All incidents
        </PageLink>
      }
    >
      {incidents.length === 0 ? (
        <Text size="sm" c="dimmed">
          No open incidents in the last 30 days.
        </Text>
      ) : (
        <IncidentTable
          caption="Recent incidents"
          incidents={incidents}
          tenants={tenants}
          maxHeight={360}
        />
      )}
    </Section>
  );
}
