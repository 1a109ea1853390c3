// Every worker: what it does, since when, and when it was heard last.

import { Group, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Command } from "../../parts/Command";
import { Only } from "../../parts/Only";
import { Page } from "../../parts/Page";
import { present } from "../../parts/search";
import { Answer, Empty } from "../../parts/states";
import { type Worker, workersQuery } from "./queries";
import { WorkerTable } from "./WorkerTable";

const route = getRouteApi("/shell/workers");
const STATES: Worker["state"][] = ["starting", "idle", "busy", "draining"];

export function Workers() {
  return (
    <Only scope="platform:*" title="Workers">
      <All />
    </Only>
  );
}

function All() {
  const { pool, state } = route.useSearch();
  const navigate = route.useNavigate();
  const workers = useQuery(workersQuery);
  const pools = [...new Set(workers.data?.items.map((worker) => worker.pool))].sort();
  const passes = (worker: Worker) =>
    (!pool || worker.pool === pool) && (!state || worker.state === state);
  const set = (next: { pool?: string | undefined; state?: string | undefined }) =>
    void navigate({ search: present({ pool, state, ...next }) });
  return (
    <Page title="Workers" about="The processes that run plugins. The planner starts and ends them.">
      <Group>
        <NativeSelect
          label="Pool"
          value={pool ?? ""}
          data={[{ value: "", label: "all" }, ...[...new Set([...pools, ...(pool ? [pool] : [])])]]}
          onChange={(event) => set({ pool: event.currentTarget.value || undefined })}
        />
        <NativeSelect
          label="State"
          value={state ?? ""}
          data={[{ value: "", label: "all" }, ...STATES]}
          onChange={(event) => set({ state: event.currentTarget.value || undefined })}
        />
      </Group>
      <Answer query={workers} what="the workers" height={240}>
        {({ items, at }) => <Listed items={items} shown={items.filter(passes)} at={at} />}
      </Answer>
    </Page>
  );
}

function Listed({ items, shown, at }: { items: Worker[]; shown: Worker[]; at: string }) {
  if (items.length === 0) {
    return (
      <Empty title="No worker runs now">
        The planner starts some when there is work, within a pool's bounds. To keep some ready:
        <Command text="assay capacity set cpu 1..8" />
      </Empty>
    );
  }
  if (shown.length === 0) return <Empty title="No worker passes these filters" />;
  return <WorkerTable workers={shown} at={at} />;
}
