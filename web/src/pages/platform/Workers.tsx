// All workers: current work, start time and last message.

import { Group, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { BookLink } from "../../parts/BookLink";
import { Command } from "../../parts/Command";
import { Export } from "../../parts/Export";
import { Page } from "../../parts/Page";
import { RequireScope } from "../../parts/RequireScope";
import { present } from "../../parts/search";
import { Answer, Empty, NoMatch } from "../../parts/states";
import { type Worker, workersQuery } from "./queries";
import { WorkerTable } from "./WorkerTable";

const route = getRouteApi("/shell/workers");
const WORKER_COLUMNS = [
  "id",
  "pool",
  "state",
  "launcher",
  "pid",
  "asked_at",
  "joined_at",
  "heard_at",
  "in_hand",
  "stages_done",
  "memory_bytes",
  "running.plugin",
  "running.batch",
  "running.request",
  "ticket",
];
const STATES: Worker["state"][] = ["starting", "idle", "busy", "draining"];

export function Workers() {
  return (
    <RequireScope scope="platform:*" title="Workers">
      <WorkerList />
    </RequireScope>
  );
}

function WorkerList() {
  const search = route.useSearch();
  const { pool, state } = search;
  const navigate = route.useNavigate();
  const workers = useQuery(workersQuery);
  const pools = [...new Set(workers.data?.items.map((worker) => worker.pool))].sort();
  const passes = (worker: Worker) =>
    (!pool || worker.pool === pool) && (!state || worker.state === state);
  const set = (next: { pool?: string | undefined; state?: string | undefined }) =>
    void navigate({ search: present({ ...search, ...next }) });
  return (
    <Page
      title="Workers"
      about="The processes that run plugins. The planner starts and stops them."
    >
      <Group align="end">
        <NativeSelect
          label="Pool"
          size="xs"
          value={pool ?? ""}
          data={[{ value: "", label: "Any" }, ...[...new Set([...pools, ...(pool ? [pool] : [])])]]}
          onChange={(event) => set({ pool: event.currentTarget.value || undefined })}
        />
        <NativeSelect
          label="State"
          size="xs"
          value={state ?? ""}
          data={[{ value: "", label: "Any" }, ...STATES]}
          onChange={(event) => set({ state: event.currentTarget.value || undefined })}
        />
        <Export
          name="workers"
          columns={WORKER_COLUMNS}
          read={async () => ({ items: (workers.data?.items ?? []).filter(passes) })}
        />
      </Group>
      <Answer query={workers} what="the workers" height={240}>
        {({ items, at }) => (
          <FilteredWorkers
            items={items}
            shown={items.filter(passes)}
            at={at}
            clear={() => set({ pool: undefined, state: undefined })}
          />
        )}
      </Answer>
    </Page>
  );
}

function FilteredWorkers(props: {
  items: Worker[];
  shown: Worker[];
  at: string;
  clear: () => void;
}) {
  const { items, shown, at, clear } = props;
  if (items.length === 0) {
    return (
      <Empty title="No running workers">
        The planner starts workers when there is work, within the limits of the pool. To keep one
        ready:
        <Command text="assay capacity set cpu 1..8" />
        <BookLink to="operations/workers">More about workers</BookLink>
      </Empty>
    );
  }
  if (shown.length === 0) return <NoMatch title="No matching workers" clear={clear} />;
  return <WorkerTable workers={shown} at={at} />;
}
