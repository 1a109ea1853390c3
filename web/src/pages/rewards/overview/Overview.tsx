// Overview: live batches with their deadlines, queues, workers, recent batches and incidents.

import { Checkbox, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../../api/session";
import { count } from "../../../parts/format";
import { Page } from "../../../parts/Page";
import { Steady } from "../../../parts/Steady";
import { Answer } from "../../../parts/states";
import { overviewQuery, recentBatchesQuery } from "../queries";
import { FirstBatch } from "./FirstBatch";
import { Incidents } from "./Incidents";
import { LiveBatches } from "./LiveBatches";
import { PoolTable } from "./PoolTable";
import { RecentBatches } from "./RecentBatches";
import { StageQueues } from "./StageQueues";

const route = getRouteApi("/shell/");

export function Overview() {
  const { all = false } = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession();
  const overview = useQuery(overviewQuery(all));
  const recent = useQuery(recentBatchesQuery);
  return (
    <Page
      title="Overview"
      state={liveText(overview.data?.batches_total)}
      actions={
        may(session, "platform:*") && (
          <Checkbox
            size="sm"
            label="All tenants"
            checked={all}
            onChange={({ currentTarget: { checked } }) =>
              void navigate({ search: checked ? { all: true } : {} })
            }
          />
        )
      }
    >
      <Answer query={overview} what="the overview" height={320}>
        {(answer) => (
          <Stack gap="md">
            {recent.data?.items.length === 0 && answer.batches_total === 0 && <FirstBatch />}
            <Steady minHeight={180}>
              <LiveBatches
                batches={answer.batches}
                total={answer.batches_total}
                tenants={all}
                at={answer.at}
                readAt={overview.dataUpdatedAt}
              />
            </Steady>
            <Steady minHeight={120}>
              <StageQueues queue={answer.queue} tenants={all} />
            </Steady>
            {answer.pools && <PoolTable pools={answer.pools} />}
            <Steady minHeight={180}>
              <Answer query={recent} what="the recent batches">
                {({ items }) => <RecentBatches batches={items} />}
              </Answer>
            </Steady>
            <Steady minHeight={120}>
              <Incidents incidents={answer.incidents} tenants={all} />
            </Steady>
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

function liveText(batches: number | undefined): string | undefined {
  return batches ? `${count(batches)} live` : undefined;
}
