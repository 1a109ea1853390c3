// One batch: key figures, timeline, reasons for its delay, and requests.

import { Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, data, type Schemas } from "../../../api/client";
import { may, useSession } from "../../../api/session";
import { ConfirmButton } from "../../../parts/ConfirmButton";
import { Copy } from "../../../parts/Copy";
import { CopyLink } from "../../../parts/CopyLink";
import { Deferred } from "../../../parts/Deferred";
import { serverNow, useNow } from "../../../parts/now";
import { Page } from "../../../parts/Page";
import { present } from "../../../parts/search";
import { Answer, Empty } from "../../../parts/states";
import { ExportSamples } from "../ExportSamples";
import { PageLink } from "../Links";
import { overviewQuery, timelineQuery } from "../queries";
import { pythonResultsOf } from "../request/commands";
import { BatchFacts } from "./BatchFacts";
import { BatchTimeline } from "./BatchTimeline";
import { EqualGroups } from "./EqualGroups";
import { GroupDialog } from "./GroupDialog";
import { Groups } from "./Groups";
import { Requests } from "./Requests";
import { targetsOf } from "./targets";
import { Verdicts } from "./Verdicts";
import { WhyLate } from "./WhyLate";

const route = getRouteApi("/shell/batches/$batch");

/** Period of reading a live batch of which the stream does not tell. */
const POLL_MS = 5_000;
/** Height of what is below the timeline, roughly. */
const TABLES_HEIGHT = 1_200;

export function BatchPage() {
  const { batch: id } = route.useParams();
  const timeline = useQuery(timelineQuery(id));
  const batch = timeline.data?.batch;
  return (
    <Page
      title={batch ? `${batch.run}, iteration ${batch.iteration}` : "Batch"}
      crumbs={[
        { label: "Batches", to: "/batches" },
        ...(batch ? [{ label: batch.run, to: `/runs/${encodeURIComponent(batch.run)}` }] : []),
      ]}
      about={id}
      actions={batch && <Actions batch={batch} />}
    >
      <Answer query={timeline} what="the batch" height={480}>
        {(answer) => <Content answer={answer} readAt={timeline.dataUpdatedAt} />}
      </Answer>
    </Page>
  );
}

function Content({ answer, readAt }: { answer: Schemas["Timeline"]; readAt: number }) {
  const live = answer.ended_ms == null && !answer.batch.done_at;
  const now = useNow(live, 500);
  // The server's time of the answer plus the time that has passed since then.
  const nowMs = live ? answer.as_of_ms + Math.max(now - readAt, 0) : Number.NaN;
  const overview = useQuery({ ...overviewQuery(false), enabled: live });
  const liveBatch = overview.data?.batches.find(({ id }) => id === answer.batch.id);
  const liveNowMs = overview.data
    ? serverNow(overview.data.at, overview.dataUpdatedAt, now)
    : Number.NaN;
  useReading(answer.batch.id, live && overview.isSuccess && !liveBatch);
  const targets = targetsOf(answer, live ? liveBatch : undefined);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const compare = (group: string | undefined) =>
    void navigate({ search: present({ ...search, group }), resetScroll: false });
  const hasRequests = answer.requests.seq.length > 0;
  return (
    <Stack gap="md">
      <BatchFacts
        timeline={answer}
        targets={targets}
        liveBatch={liveBatch}
        nowMs={nowMs}
        liveNowMs={liveNowMs}
      />
      {answer.lateness && answer.batch.state === "done" && (
        <WhyLate lateness={answer.lateness} batch={answer.batch.id} />
      )}
      {hasRequests ? (
        <>
          <BatchTimeline answered={answer} targets={targets} nowMs={nowMs} />
          {search.group !== undefined && (
            <GroupDialog
              batch={answer.batch.id}
              run={answer.batch.run}
              group={search.group}
              onClose={() => compare(undefined)}
            />
          )}
          <Deferred height={TABLES_HEIGHT}>
            <Groups timeline={answer} />
            <EqualGroups timeline={answer} onGroup={(name) => compare(name)} />
            <Verdicts timeline={answer} />
            <Requests
              batch={answer.batch.id}
              verdicts={Object.keys(answer.rollup?.verdicts ?? {})}
            />
          </Deferred>
        </>
      ) : (
        <Empty title={live ? "No requests yet" : "No requests stored"}>
          {live
            ? "The batch is announced. Its requests appear here as they arrive."
            : "Requests were deleted by retention, or none were sent. Totals remain."}
        </Empty>
      )}
    </Stack>
  );
}

/** Reads a batch again and again: the stream tells of the most urgent live batches only. */
function useReading(batch: string, reading: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!reading) return;
    const read = () =>
      void queries.invalidateQueries(
        { queryKey: ["batches", "one", batch] },
        { cancelRefetch: false },
      );
    const timer = setInterval(read, POLL_MS);
    return () => clearInterval(timer);
  }, [queries, batch, reading]);
}

function Actions({ batch }: { batch: Schemas["Batch"] }) {
  const session = useSession();
  const queries = useQueryClient();
  const ended = Boolean(batch.done_at) || ["done", "cancelled", "expired"].includes(batch.state);
  const cancel = async () => {
    await data(api.POST("/v1/batches/{id}/cancel", { params: { path: { id: batch.id } } }));
    await queries.invalidateQueries({ queryKey: ["batches"] });
  };
  return (
    <>
      <Copy text={batch.id} label="Copy id" />
      <Copy text={pythonResultsOf(batch.id)} label="Copy as Python" />
      <CopyLink />
      <ExportSamples run={batch.run} batch={batch.id} />
      {ended && (
        <PageLink to="/samples" search={{ batch: batch.id }} size="sm">
          Samples
        </PageLink>
      )}
      {ended && (
        <PageLink to="/simulate" search={{ batch: batch.id }} size="sm">
          Simulate
        </PageLink>
      )}
      {!ended && may(session, "batches:write") && (
        <ConfirmButton
          label="Cancel batch"
          dismiss="Keep batch"
          danger
          act={cancel}
          done="The batch is cancelled"
        >
          <Text size="sm">
            Unfinished requests end as errors with the code cancelled. Existing rewards are kept.
          </Text>
        </ConfirmButton>
      )}
    </>
  );
}
