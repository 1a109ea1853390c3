// Batches of all runs, newest first.

import { Button, Checkbox, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { BookLink } from "../../../parts/BookLink";
import { Command } from "../../../parts/Command";
import { Export } from "../../../parts/Export";
import { count } from "../../../parts/format";
import { Page } from "../../../parts/Page";
import { Pager } from "../../../parts/Pager";
import { present } from "../../../parts/search";
import { Answer, Empty, NoMatch } from "../../../parts/states";
import { TextFilter } from "../../../parts/TextFilter";
import { BATCH_COLUMNS } from "../columns";
import { type BatchesFilter, batchesExport, batchesQuery, STATES } from "../queries";
import { RangeFields } from "../RangeFields";
import { SortedBatchTable } from "./BatchTable";

const route = getRouteApi("/shell/batches");

type BatchSummary = Schemas["BatchSummary"];

type Change = { [K in keyof BatchesFilter]: BatchesFilter[K] | undefined };

export function Batches() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const batches = useQuery(batchesQuery(search));
  const list = batches.isPlaceholderData ? "" : JSON.stringify(search);
  const { shown, fresh, show } = useStandingList(batches.data?.items, list);
  const go = (change: Change) => void navigate({ search: present({ ...search, ...change }) });
  /** A new filter starts at the first page. */
  const filter = (change: Change) => go({ after: undefined, ...change });
  return (
    <Page title="Batches">
      <Group gap="sm" align="end" className="filters">
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
        {fresh > 0 && (
          <Button size="compact-xs" mb={6} variant="light" onClick={show}>
            {fresh === 1 ? "Show 1 new batch" : `Show ${count(fresh)} new batches`}
          </Button>
        )}
        <Export name="batches" columns={BATCH_COLUMNS} read={batchesExport(search)} />
      </Group>
      <Answer query={batches} what="the batches" height={320}>
        {({ next }) => (
          <Stack gap="sm">
            {shown.length > 0 ? (
              <SortedBatchTable
                batches={shown}
                more={next !== undefined || search.after !== undefined}
              />
            ) : (
              <NoBatches
                filtered={isFiltered(search)}
                clear={() => void navigate({ search: {} })}
              />
            )}
            <Pager
              after={search.after}
              next={next}
              onGo={(after) => go({ after })}
              rows={search.rows}
              onRows={(rows) => filter({ rows })}
            />
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

/**
 * The batches of a list up to the newest that it began with: those that came since would move the others away from under
 * the pointer, so they are counted, and shown when asked for. `list` names what the batches are chosen by.
 */
function useStandingList(batches: BatchSummary[] = [], list: string) {
  const newest = batches[0]?.batch.id;
  const [until, setUntil] = useState({ list, id: newest });
  const show = () => setUntil({ list, id: newest });
  // The ids of batches grow with time.
  const shown = batches.filter(({ batch }) => until.id && batch.id <= until.id);
  // Nothing stands where the list is another one, was empty, or has a whole page of new batches.
  if (until.list !== list || (newest && shown.length === 0)) show();
  return { shown, fresh: batches.length - shown.length, show };
}

/** Whether anything but the number and the order of the rows is chosen. */
function isFiltered({ rows: _, ...search }: BatchesFilter): boolean {
  return Object.keys(search).some((name) => name !== "sort");
}

function NoBatches({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) return <NoMatch title="No matching batches" clear={clear} />;
  return (
    <Empty title="No batches yet">
      <Stack gap="xs">
        <Text size="sm">Score a file with one JSON object per line:</Text>
        <Command text="assay score FILE.jsonl --plugin math@prod" />
        <BookLink to="trainers">Five minutes for your trainer</BookLink>
      </Stack>
    </Empty>
  );
}
