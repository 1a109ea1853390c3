// Run, batch, group and times of a request.

import { Chip } from "../../../parts/Chip";
import { Facts } from "../../../parts/Facts";
import { moment, NONE, span } from "../../../parts/format";
import { BatchLink, PluginLink, RequestLink, RunLink } from "../Links";
import type { Request } from "../queries";
import { between } from "./spans";

export function RequestFacts({ request }: { request: Request }) {
  const { context, group, id, arrived_at, result } = request;
  const shared = result?.shared_from;
  const trace = result?.trace_id;
  const batch = id.slice(0, id.lastIndexOf("."));
  if (!context) return null;
  return (
    <Facts
      items={[
        { label: "Run", value: <RunLink run={context.run} /> },
        {
          label: "Batch",
          value: <BatchLink id={batch}>{`iteration ${context.iteration}`}</BatchLink>,
          note: context.batch_state,
        },
        { label: "Group", value: group ?? NONE },
        {
          label: "Plugin",
          value: <PluginLink plugin={context.plugin} />,
          note: <Chip text={context.plugin_digest} label="digest" />,
        },
        {
          label: "Arrived",
          value: moment(arrived_at),
          note: context.first_request_at
            ? `${span(between(context.first_request_at, arrived_at))} after the first request`
            : undefined,
        },
        {
          label: "Duration",
          value: context.finished_at ? span(between(arrived_at, context.finished_at)) : NONE,
          note: context.earliest_end_at
            ? `${span(between(arrived_at, context.earliest_end_at))} without queueing`
            : undefined,
        },
        ...(shared
          ? [
              {
                label: "Answered by",
                value: <RequestLink id={shared}>an equal request</RequestLink>,
                note: "deduplicated: this request did not run",
              },
            ]
          : []),
        ...(trace
          ? [
              {
                label: "Trace",
                value: <Chip text={trace} label="trace id" />,
                note: "sent to OpenTelemetry",
              },
            ]
          : []),
      ]}
    />
  );
}
