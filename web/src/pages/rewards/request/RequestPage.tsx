// One request: outcome, times, logs, inputs and replay.

import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../../api/session";
import { Copy } from "../../../parts/Copy";
import { CopyLink } from "../../../parts/CopyLink";
import { Page } from "../../../parts/Page";
import { Answer } from "../../../parts/states";
import { type Request, requestQuery } from "../queries";
import { Artifacts } from "./Artifacts";
import { curlOf, pythonOf } from "./commands";
import { Inputs } from "./Inputs";
import { Logs } from "./Logs";
import { OutcomeView } from "./OutcomeView";
import { Replay } from "./Replay";
import { RequestFacts } from "./RequestFacts";
import { Spans } from "./Spans";

const route = getRouteApi("/shell/requests/$request");

export function RequestPage() {
  const { request: id } = route.useParams();
  const request = useQuery(requestQuery(id));
  const known = request.data;
  const batch = id.slice(0, id.lastIndexOf("."));
  const run = known?.context?.run;
  return (
    <Page
      title={known ? `Request ${known.key}` : "Request"}
      about={id}
      crumbs={[
        { label: "Batches", to: "/batches" },
        ...(run ? [{ label: run, to: `/runs/${encodeURIComponent(run)}` }] : []),
        {
          label: known?.context ? `iteration ${known.context.iteration}` : "batch",
          to: `/batches/${batch}`,
        },
      ]}
      actions={
        known && (
          <>
            <Copy text={id} label="Copy id" />
            <Copy text={curlOf(known, window.location.origin)} label="Copy curl" />
            <Copy text={pythonOf(known)} label="Copy as Python" />
            <CopyLink />
          </>
        )
      }
    >
      <Answer query={request} what="the request" height={480}>
        {(answer) => <Content request={answer} />}
      </Answer>
    </Page>
  );
}

function Content({ request }: { request: Request }) {
  const session = useSession();
  const { result, context } = request;
  return (
    <Stack gap="md">
      <OutcomeView outcome={result?.outcome} />
      <RequestFacts request={request} />
      {context && context.spans.length > 0 && <Spans request={request} context={context} />}
      <Logs id={request.id} ended={Boolean(result)} />
      {context && context.artifacts.length > 0 && (
        <Artifacts id={request.id} artifacts={context.artifacts} />
      )}
      <Inputs request={request} />
      {result && context && may(session, "batches:write") && (
        <Replay request={request} context={context} />
      )}
    </Stack>
  );
}
