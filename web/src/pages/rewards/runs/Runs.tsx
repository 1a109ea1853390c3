// Training runs, most recently active first.

import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { BookLink } from "../../../parts/BookLink";
import { Command } from "../../../parts/Command";
import { Export } from "../../../parts/Export";
import { count, moment, NONE } from "../../../parts/format";
import { Page } from "../../../parts/Page";
import { Pager } from "../../../parts/Pager";
import { Reward } from "../../../parts/Reward";
import { SortedGrid } from "../../../parts/SortedGrid";
import { present } from "../../../parts/search";
import { Answer, Empty, NoMatch } from "../../../parts/states";
import { TextFilter } from "../../../parts/TextFilter";
import { RUN_COLUMNS } from "../columns";
import { PageLink, PluginLink, RunLink } from "../Links";
import { type RunsFilter, runsExport, runsQuery } from "../queries";
import { RangeFields } from "../RangeFields";

const route = getRouteApi("/shell/runs");

type Run = Schemas["RunSummary"];
type Change = { [K in keyof RunsFilter]: RunsFilter[K] | undefined };

export function Runs() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery(runsQuery(search));
  const go = (change: Change) => void navigate({ search: present({ ...search, ...change }) });
  /** A new filter starts at the first page. */
  const filter = (change: Change) => go({ after: undefined, ...change });
  return (
    <Page
      title="Runs"
      about="A run keeps the plugin and settings of its first batch."
      actions={
        <PageLink to="/compare" size="sm">
          Compare runs
        </PageLink>
      }
    >
      <Group gap="sm" align="end" className="filters">
        <TextFilter label="Name" value={search.q} onChange={(q) => filter({ q })} />
        <TextFilter
          label="Plugin"
          value={search.plugin}
          onChange={(plugin) => filter({ plugin })}
        />
        <RangeFields range={search} onChange={filter} />
        <Export name="runs" columns={RUN_COLUMNS} read={runsExport(search)} />
      </Group>
      <Answer query={runs} what="the runs" height={320}>
        {({ items, next }) => (
          <Stack gap="sm">
            {items.length > 0 ? (
              <Table runs={items} more={next !== undefined || search.after !== undefined} />
            ) : (
              <NoRuns filtered={isFiltered(search)} clear={() => void navigate({ search: {} })} />
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

function isFiltered({ q, plugin, after, within, from, to }: RunsFilter): boolean {
  return Boolean(q || plugin || after || within || from || to);
}

function Table({ runs, more }: { runs: Run[]; more: boolean }) {
  return (
    <SortedGrid
      caption="Runs"
      columns={[
        {
          title: "Run",
          opens: true,
          value: ({ name }) => name,
          cell: ({ name }) => <RunLink run={name} />,
        },
        {
          title: "Plugin",
          value: ({ plugin }) => plugin,
          cell: ({ plugin }) => <PluginLink plugin={plugin} />,
        },
        {
          title: "Live",
          number: true,
          value: (run) => run.live_batches,
          cell: ({ live_batches }) => live_batches || NONE,
        },
        {
          title: "Batches",
          number: true,
          value: (run) => run.batches,
          cell: ({ batches }) => count(batches),
        },
        {
          title: "Last iteration",
          number: true,
          value: ({ last_iteration }) => last_iteration,
          cell: ({ last_iteration }) => count(last_iteration),
        },
        {
          title: "Last mean reward",
          number: true,
          value: ({ last_mean_reward }) => last_mean_reward,
          cell: ({ last_mean_reward }) => <Reward of={last_mean_reward} />,
        },
        {
          title: "Last batch",
          tight: true,
          value: (run) => run.last_batch_at,
          cell: ({ last_batch_at }) => moment(last_batch_at),
        },
        {
          title: "Started",
          tight: true,
          value: (run) => run.created_at,
          cell: ({ created_at }) => moment(created_at),
        },
      ]}
      rows={runs}
      rowKey={({ name }) => name}
      more={more}
    />
  );
}

function NoRuns({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) return <NoMatch title="No matching runs" clear={clear} />;
  return (
    <Empty title="No runs yet">
      <Stack gap="xs">
        <Text size="sm">A run starts with its first batch. To start one, score a file:</Text>
        <Command text="assay score FILE.jsonl --plugin math@prod --run my-run" />
        <BookLink to="trainers">Five minutes for your trainer</BookLink>
      </Stack>
    </Empty>
  );
}
