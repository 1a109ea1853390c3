// Batches of all runs, the newest first.

import { Checkbox, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Command } from "../../../parts/Command";
import { Page } from "../../../parts/Page";
import { present } from "../../../parts/search";
import { Answer, Empty } from "../../../parts/states";
import { Pager } from "../Pager";
import { type BatchesFilter, batchesQuery, STATES } from "../queries";
import { RangeFields } from "../RangeFields";
import { TextFilter } from "../TextFilter";
import { BatchTable } from "./BatchTable";

const route = getRouteApi("/shell/batches");

type Change = { [K in keyof BatchesFilter]: BatchesFilter[K] | undefined };

export function Batches() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const batches = useQuery(batchesQuery(search));
  const go = (change: Change) => void navigate({ search: present({ ...search, ...change }) });
  /** Another filter begins at the first page again. */
  const filter = (change: Change) => go({ after: undefined, ...change });
  return (
    <Page title="Batches">
      <Group gap="sm" align="end">
        <NativeSelect
          size="xs"
          label="State"
          data={[{ value: "", label: "Any" }, ...STATES]}
          value={search.state ?? ""}
          onChange={({ currentTarget: { value } }) =>
            filter({ state: STATES.find((state) => state === value) })
          }
        />
        <TextFilter label="Run" value={search.run} onChange={(run) => filter({ run })} />
        <TextFilter
          label="Plugin"
          value={search.plugin}
          onChange={(plugin) => filter({ plugin })}
        />
        <RangeFields range={search} onChange={filter} />
        <Checkbox
          size="sm"
          mb={6}
          label="Late only"
          checked={search.late ?? false}
          onChange={({ currentTarget: { checked } }) => filter({ late: checked || undefined })}
        />
      </Group>
      <Answer query={batches} what="the batches" height={320}>
        {({ items, next }) => (
          <Stack gap="sm">
            {items.length > 0 ? (
              <BatchTable batches={items} />
            ) : (
              <None filtered={Object.keys(search).length > 0} more={next != null} />
            )}
            <Pager after={search.after} next={next} onGo={(after) => go({ after })} />
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

function None({ filtered, more }: { filtered: boolean; more: boolean }) {
  if (more)
    return <Empty title="None on this page">Earlier ones may be: go to the next page.</Empty>;
  if (filtered) return <Empty title="No batch is like that">Take a filter away.</Empty>;
  return (
    <Empty title="No batch yet">
      <Stack gap="xs">
        <Text size="sm">Score a file: a line of JSON a request.</Text>
        <Command text="assay score FILE.jsonl --plugin math@prod" />
      </Stack>
    </Empty>
  );
}
