// All incidents, the latest first: in groups of one kind and run, or each by itself.

import { Checkbox, Group, NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../../api/session";
import { BookLink } from "../../../parts/BookLink";
import { Export } from "../../../parts/Export";
import { KIND_NAMES, KINDS } from "../../../parts/incidents";
import { Page } from "../../../parts/Page";
import { Pager } from "../../../parts/Pager";
import { present } from "../../../parts/search";
import { Answer, Empty, NoMatch } from "../../../parts/states";
import { TextFilter } from "../../../parts/TextFilter";
import { INCIDENT_COLUMNS } from "../columns";
import { type IncidentsFilter, incidentsExport, incidentsQuery } from "../queries";
import { IncidentTable } from "./IncidentTable";

const route = getRouteApi("/shell/incidents");

type Change = { [K in keyof IncidentsFilter]: IncidentsFilter[K] | undefined };

export function Incidents() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession();
  const incidents = useQuery(incidentsQuery(search));
  const go = (change: Change) => void navigate({ search: present({ ...search, ...change }) });
  /** A new filter starts at the first page. */
  const filter = (change: Change) => go({ after: undefined, ...change });
  return (
    <Page title="Incidents" about="Kept for 30 days.">
      <Group gap="sm" align="end" className="filters">
        <NativeSelect
          size="xs"
          label="Incident"
          data={[
            { value: "", label: "Any" },
            ...KIND_NAMES.map((value) => ({ value, label: KINDS[value].label })),
          ]}
          value={search.kind ?? ""}
          onChange={({ currentTarget: { value } }) =>
            filter({ kind: KIND_NAMES.find((kind) => kind === value) })
          }
        />
        <TextFilter label="Run" value={search.run} onChange={(run) => filter({ run })} />
        <Checkbox
          size="sm"
          mb={6}
          label="Group by run and pool"
          checked={!search.each}
          onChange={({ currentTarget: { checked } }) =>
            filter({ each: checked ? undefined : true })
          }
        />
        <Checkbox
          size="sm"
          mb={6}
          label="Open only"
          checked={search.open ?? false}
          onChange={({ currentTarget: { checked } }) => filter({ open: checked || undefined })}
        />
        {may(session, "platform:*") && (
          <Checkbox
            size="sm"
            mb={6}
            label="All tenants"
            checked={search.all ?? false}
            onChange={({ currentTarget: { checked } }) => filter({ all: checked || undefined })}
          />
        )}
        <Export name="incidents" columns={INCIDENT_COLUMNS} read={incidentsExport(search)} />
      </Group>
      <Answer query={incidents} what="the incidents" height={320}>
        {({ items, next }) => (
          <Stack gap="sm">
            {items.length > 0 ? (
              <IncidentTable
                caption="Incidents"
                incidents={items}
                tenants={search.all ?? false}
                states
              />
            ) : search.kind || search.run || search.open ? (
              <NoMatch
                title="No matching incidents"
                clear={() => filter({ kind: undefined, run: undefined, open: undefined })}
              />
            ) : (
              <Empty title="No incidents">
                Late batches, failed requests, silent trainers, dropped rewards and worker trouble
                appear here.
                <BookLink to="operations/tenants">More about incidents</BookLink>
              </Empty>
            )}
            <Pager after={search.after} next={next} onGo={(after) => go({ after })} />
          </Stack>
        )}
      </Answer>
    </Page>
  );
}
