// Samples of a run, a batch or a plugin version: sorted, filtered and searched by the server, and read one
// after the other.

import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CopyLink } from "../../../parts/CopyLink";
import { Export } from "../../../parts/Export";
import { count } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { type Crumb, Page } from "../../../parts/Page";
import { Pager } from "../../../parts/Pager";
import { present } from "../../../parts/search";
import type { SortHeads } from "../../../parts/sort";
import { Answer, Empty, NoMatch } from "../../../parts/states";
import { GroupDialog } from "../batch/GroupDialog";
import { SampleDrawer } from "../batch/SampleDrawer";
import { SAMPLE_COLUMNS } from "../columns";
import { PageLink } from "../Links";
import { columnsOf, NUMBERS, SORTED_BY } from "./columns";
import { Filters } from "./Filters";
import {
  comparedOf,
  filterOf,
  orderOf,
  type Sample,
  type SamplesChange,
  type SamplesSearch,
  samplesExport,
  samplesQuery,
} from "./search";

const route = getRouteApi("/shell/samples");

/** In the URL: the first sample of the page. */
const FIRST = "first";

export function SamplesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const go = (change: SamplesChange) =>
    void navigate({ search: present({ ...search, ...change }), resetScroll: false });
  /** Another filter or order starts at the first page. */
  const filter = (change: SamplesChange) => go({ after: undefined, sample: undefined, ...change });
  const clear = () => {
    const none = Object.keys(filterOf(search)).map((name) => [name, undefined]);
    filter(Object.fromEntries(none));
  };
  const { run, batch, plugin } = search;
  const isChosen = run !== undefined || batch !== undefined || plugin !== undefined;
  return (
    <Page
      title="Samples"
      about={aboutOf(search)}
      crumbs={crumbsOf(search)}
      actions={
        isChosen && (
          <>
            <Export name="samples" columns={SAMPLE_COLUMNS} read={samplesExport(search)} />
            <CopyLink />
          </>
        )
      }
    >
      {isChosen ? (
        <>
          <Filters search={search} onChange={filter} />
          <Samples search={search} go={go} filter={filter} clear={clear} />
        </>
      ) : (
        <Empty title="Choose a run">
          Samples are listed by run, batch or plugin version. Open one of your{" "}
          <PageLink to="/runs" size="sm">
            runs
          </PageLink>{" "}
          and follow its link to the samples.
        </Empty>
      )}
    </Page>
  );
}

function aboutOf({ run, batch, plugin }: SamplesSearch): string | undefined {
  if (run !== undefined) return `Requests of the run ${run} with their texts and rewards.`;
  if (plugin !== undefined) return `Requests that ${plugin} scored, with their texts.`;
  return batch && `Requests of the batch ${batch} with their texts and rewards.`;
}

function crumbsOf({ run, batch, plugin }: SamplesSearch): Crumb[] {
  if (run !== undefined) {
    return [
      { label: "Runs", to: "/runs" },
      { label: run, to: `/runs/${encodeURIComponent(run)}` },
    ];
  }
  if (batch !== undefined) {
    return [
      { label: "Batches", to: "/batches" },
      { label: batch, to: `/batches/${batch}` },
    ];
  }
  if (plugin === undefined) return [];
  const at = plugin.lastIndexOf("@");
  const path = [plugin.slice(0, at), plugin.slice(at + 1)].map(encodeURIComponent).join("/");
  return [
    { label: "Plugins", to: "/plugins" },
    { label: plugin, to: `/plugins/${path}` },
  ];
}

function Samples(props: {
  search: SamplesSearch;
  go: (change: SamplesChange) => void;
  filter: (change: SamplesChange) => void;
  clear: () => void;
}) {
  const { search, go, filter, clear } = props;
  const samples = useQuery(samplesQuery(search));
  const isFiltered = Object.keys(filterOf(search)).length > 0;
  const { after, rows } = search;
  return (
    <Answer query={samples} what="the samples" height={480}>
      {({ items, next, newest, preparing, prepared }) => (
        <Stack gap="sm">
          {preparing > 0 && prepared !== "nothing" && <Preparing batches={preparing} of={search} />}
          {newest != null && (
            <Text size="sm" c="dimmed" role="note">
              Among the newest {count(newest)} samples. Filter by iteration to reach older ones.
            </Text>
          )}
          {prepared === "nothing" && (
            <Text size="sm" c="dimmed" role="note">
              This server prepares no samples. The list has what was prepared earlier.
            </Text>
          )}
          {items.length > 0 ? (
            <Table
              search={search}
              items={items}
              isOld={samples.isPlaceholderData}
              next={next}
              go={go}
              filter={filter}
            />
          ) : isFiltered ? (
            <NoMatch title="No matching samples" clear={clear} />
          ) : (
            <Empty title="No samples yet">
              The requests of a batch are listed here soon after its end.
            </Empty>
          )}
          <Pager
            after={after}
            next={next}
            onGo={(page) => go({ after: page, sample: undefined })}
            rows={rows}
            onRows={(wanted) => filter({ rows: wanted })}
          />
        </Stack>
      )}
    </Answer>
  );
}

function Preparing({ batches, of }: { batches: number; of: SamplesSearch }) {
  if (of.batch !== undefined) {
    return (
      <Text size="sm" role="status">
        The samples of this batch are prepared after its end. Until then its{" "}
        <PageLink to="/batches/$batch" params={{ batch: of.batch }} hash="requests" size="sm">
          page
        </PageLink>{" "}
        lists the requests.
      </Text>
    );
  }
  return (
    <Text size="sm" role="status">
      The samples of {count(batches)} more {batches === 1 ? "batch" : "batches"} are being prepared
      and appear here in a moment.
    </Text>
  );
}

function Table(props: {
  search: SamplesSearch;
  items: Sample[];
  /** Whether the rows are those of the page before, until the chosen one is loaded. */
  isOld: boolean;
  next: string | undefined;
  go: (change: SamplesChange) => void;
  filter: (change: SamplesChange) => void;
}) {
  const { search, items, isOld, next, go, filter } = props;
  const { compare, component } = search;
  const sample = search.sample === FIRST ? (isOld ? undefined : items[0]?.id) : search.sample;
  const show = (id: string | undefined) => go({ sample: id });
  const columns = columnsOf({
    shown: sample,
    component,
    oneBatch: search.batch !== undefined,
    onShow: show,
    onGroup: ({ batch, group }) => go({ compare: `${batch}/${group}` }),
  });
  const ids = items.map(({ id }) => id);
  const batchOf = (id: string) => id.slice(0, id.lastIndexOf("."));
  return (
    <>
      <Grid
        caption="Samples"
        maxHeight={720}
        columns={columns}
        rows={items}
        rowKey={({ id }) => id}
        heads={headsOf(search, filter)}
      />
      {sample !== undefined && (
        <SampleDrawer
          ids={ids}
          shown={sample}
          onShow={show}
          {...(next === undefined ? {} : { onBeyond: () => go({ after: next, sample: FIRST }) })}
          onGroup={(group) => go({ compare: `${batchOf(sample)}/${group}` })}
          onClose={() => show(undefined)}
        />
      )}
      {compare !== undefined && (
        <GroupDialog
          {...comparedOf(compare)}
          run={search.run ?? items.find(({ batch }) => batch === comparedOf(compare).batch)?.run}
          onClose={() => go({ compare: undefined })}
        />
      )}
    </>
  );
}

/** The heads of the table: a click asks the server for another order. */
function headsOf(search: SamplesSearch, filter: (change: SamplesChange) => void): SortHeads {
  const order = orderOf(search.sort);
  const columnOf = (title: string) => SORTED_BY[title] ?? "component";
  return {
    direction: (title) => {
      if (order?.column !== columnOf(title)) return "none";
      return order.descending ? "descending" : "ascending";
    },
    toggle: (title) => {
      const column = columnOf(title);
      const first = NUMBERS.includes(column) ? `-${column}` : column;
      const second = NUMBERS.includes(column) ? column : `-${column}`;
      const sort = search.sort === first ? second : search.sort === second ? undefined : first;
      filter({ sort });
    },
  };
}
