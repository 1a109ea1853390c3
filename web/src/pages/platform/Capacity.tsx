// Pools: workers against demand, what waits, and why the planner wants what it wants.

import { NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { Command } from "../../parts/Command";
import { ago, count, span } from "../../parts/format";
import { Only } from "../../parts/Only";
import { Page } from "../../parts/Page";
import { Answer, Empty, Failed } from "../../parts/states";
import { PoolSection } from "./PoolSection";
import { capacityQuery, historyQuery, queueQuery } from "./queries";

const route = getRouteApi("/shell/capacity");
const HOUR = 60;
const RANGES = [
  { value: "15", label: "the last 15 minutes" },
  { value: "60", label: "the last hour" },
  { value: "360", label: "the last 6 hours" },
  { value: "1440", label: "the last day" },
  { value: "10080", label: "the last 7 days" },
];

export function Capacity() {
  return (
    <Only scope="platform:*" title="Capacity">
      <Pools />
    </Only>
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
          aria-label="How far back"
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
      {history.isError && <Failed thrown={history.error} again={() => void history.refetch()} />}
      {queue.isError && <Failed thrown={queue.error} again={() => void queue.refetch()} />}
      <Answer query={capacity} what="the pools" height={420}>
        {({ pools }) =>
          pools.length === 0 ? (
            <Empty title="There are no pools">
              Start the server with workers:
              <Command text="assay serve --workers cpu=0..8" />
            </Empty>
          ) : (
            <Stack gap="xl">
              {pools.map((pool) => (
                <PoolSection
                  key={pool.pool}
                  pool={pool}
                  range={RANGES.find(({ value }) => value === chosen)?.label ?? ""}
                  to={history.data?.to}
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
  if (!plan) return `Planner ${planner}; no plan was made yet.`;
  return (
    `Planner ${planner}; the last plan was made ${ago(plan.at)} in ${span(plan.took_ms)}, ` +
    `by ${count(plan.simulations)} simulations of ${count(plan.requests)} requests.`
  );
}
