// Incidents as rows. Only batches of the current tenant are links.

import type { Schemas } from "../../../api/client";
import { useSession } from "../../../api/session";
import { Badge } from "../../../parts/Badge";
import { count, moment, NONE } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { KINDS } from "../../../parts/incidents";
import { Name } from "../../../parts/Name";
import { BatchLink } from "../Links";
import { IncidentState } from "./IncidentState";

type Incident = Schemas["Incident"];

export function IncidentTable(props: {
  caption: string;
  incidents: Incident[];
  /** Whether incidents of other tenants are among them. */
  tenants: boolean;
  /** Shows who acknowledged each, and acknowledges them. */
  states?: boolean;
  maxHeight?: number;
}) {
  const { caption, incidents, tenants, states, maxHeight } = props;
  const session = useSession();
  const tenantColumn: Column<Incident> = {
    title: "Tenant",
    cell: ({ tenant }) => <Name text={tenant ?? "platform"} />,
  };
  const stateColumn: Column<Incident> = {
    title: "State",
    cell: (incident) => <IncidentState incident={incident} />,
  };
  return (
    <Grid
      caption={caption}
      columns={[
        { title: "Last", tight: true, cell: ({ at }) => moment(at) },
        {
          title: "Incident",
          cell: ({ kind }) => <Badge tone={KINDS[kind].tone}>{KINDS[kind].label}</Badge>,
        },
        ...(tenants ? [tenantColumn] : []),
        {
          title: "Run or pool",
          opens: true,
          cell: (incident) => (
            <Subject incident={incident} own={incident.tenant === session.tenant} />
          ),
        },
        { title: "Count", number: true, cell: ({ count: times }) => count(times) },
        { title: "Detail", cell: ({ detail }) => <span className="words">{detail}</span> },
        ...(states ? [stateColumn] : []),
      ]}
      rows={incidents}
      rowKey={({ id }) => id}
      {...(maxHeight === undefined ? {} : { maxHeight })}
    />
  );
}

function Subject({ incident: { batch, run, pool }, own }: { incident: Incident; own: boolean }) {
  const name = <Name text={run ?? pool ?? (batch ? "batch" : NONE)} />;
  return batch && own ? <BatchLink id={batch}>{name}</BatchLink> : name;
}
