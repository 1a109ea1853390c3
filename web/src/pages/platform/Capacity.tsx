// All pools: workers, load, queue, and the decisions of the planner with their reasons.

import { NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { BookLink } from "../../parts/BookLink";
import { Command } from "../../parts/Command";
import { ago, count, span } from "../../parts/format";
import { Page } from "../../parts/Page";
import { RequireScope } from "../../parts/RequireScope";
import { Answer, Empty, Failed } from "../../parts/states";
import { PoolSection } from "./PoolSection";
import { capacityQuery, historyQuery, queueQuery } from "./queries";

const route = getRouteApi("/shell/capacity");
const HOUR = 60;
const RANGES = [
  { value: "15", label: "Last 15 minutes" },
  { value: "60", label: "Last hour" },
  { value: "360", label: "Last 6 hours" },
  { value: "1440", label: "Last day" },
  { value: "10080", label: "Last 7 days" },
];

export function Capacity() {
  return (
    <RequireScope scope="platform:*" title="Capacity">
      <Pools />
    </RequireScope>
  );
}

function Pools() {
  const { minutes } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = RANGES.find(({ value }) => value === String(minutes))?.value ?? String(HOUR);
  const capacity = useQuery(capacityQuery);
  const history = useQuery(historyQuery(Number(chosen)));
  const queue = useQuery(queueQuery);
  return (
    <Page
      title="Capacity"
      about={capacity.data && <Plan capacity={capacity.data} />}
      actions={
        <NativeSelect
          aria-label="Time range"
          size="xs"
          data={RANGES}
          value={chosen}
          onChange={(event) => {
            const next = Number(event.currentTarget.value);
            void navigate({ search: next === HOUR ? {} : { minutes: next } });
          }}
        />
      }
    >
      {history.isError && <Failed thrown={history.error} retry={() => void history.refetch()} />}
      {queue.isError && <Failed thrown={queue.error} retry={() => void queue.refetch()} />}
      <Answer query={capacity} what="the pools" height={420}>
        {({ pools }) =>
          pools.length === 0 ? (
            <Empty title="No pools">
              Start the server with workers:
              <Command text="assay serve --workers cpu=0..8" />
              <BookLink to="operations/workers">More about workers</BookLink>
            </Empty>
          ) : (
            <Stack gap="xl">
              {pools.map((pool) => (
                <PoolSection
                  key={pool.pool}
                  pool={pool}
                  range={RANGES.find(({ value }) => value === chosen)?.label ?? ""}
                  period={history.data}
                  history={history.data?.pools.find((one) => one.pool === pool.pool)}
                  queue={queue.data?.pools.find((one) => one.pool === pool.pool)}
                />
              ))}
            </Stack>
          )
        }
      </Answer>
    </Page>
  );
}

function Plan({ capacity: { planner, plan } }: { capacity: Schemas["Capacity"] }) {
  if (!plan) return `Planner: ${planner}. No plan yet.`;
  return (
    `Planner: ${planner}. Last plan: ${ago(plan.at)}, computed in ${span(plan.took_ms)} with ` +
    `${count(plan.simulations)} simulations of ${count(plan.requests)} requests.`
  );
}
