// Overview: live batches with their deadlines, queues, workers and recent incidents.

import { Checkbox, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../../api/session";
import { Page } from "../../../parts/Page";
import { Answer } from "../../../parts/states";
import { overviewQuery } from "../queries";
import { FirstBatch } from "./FirstBatch";
import { Incidents } from "./Incidents";
import { LiveBatches } from "./LiveBatches";
import { PoolTable } from "./PoolTable";
import { StageQueues } from "./StageQueues";

const route = getRouteApi("/shell/");

export function Overview() {
  const { all = false } = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession();
  const overview = useQuery(overviewQuery(all));
  return (
    <Page
      title="Overview"
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
            {answer.batches.length > 0 ? (
              <LiveBatches batches={answer.batches} total={answer.batches_total} tenants={all} />
            ) : (
              <FirstBatch />
            )}
            {answer.queue.length > 0 && <StageQueues queue={answer.queue} />}
            {answer.pools && <PoolTable pools={answer.pools} />}
            <Incidents incidents={answer.incidents} />
          </Stack>
        )}
      </Answer>
    </Page>
  );
}
