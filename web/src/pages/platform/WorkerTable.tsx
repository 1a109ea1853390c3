// Workers in a table, each of which can be drained.

import { Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { useSession } from "../../api/session";
import { Ask } from "../../parts/Ask";
import { Dot, type Tone } from "../../parts/Dot";
import { ago, bytes, count, NONE, span } from "../../parts/format";
import { Go } from "../../parts/Go";
import { Grid } from "../../parts/Grid";
import type { Worker } from "./queries";

const TONES: Record<Worker["state"], Tone> = {
  starting: "waiting",
  idle: "good",
  busy: "mark",
  draining: "late",
};

/** `at` is when they were looked at, by the server's clock. */
export function WorkerTable({ workers, at }: { workers: Worker[]; at: string }) {
  const now = Date.parse(at);
  const rows = workers.map((worker, place) => ({ worker, key: worker.id ?? `new ${place}` }));
  return (
    <Grid
      caption="Workers"
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { title: "Id", cell: ({ worker }) => worker.id ?? NONE },
        { title: "Pool", cell: ({ worker }) => worker.pool },
        {
          title: "State",
          cell: ({ worker: { state } }) => <Dot tone={TONES[state]}>{state}</Dot>,
        },
        { title: "Runs now", cell: ({ worker }) => <Running worker={worker} now={now} /> },
        { title: "In hand", number: true, cell: ({ worker }) => count(worker.in_hand) },
        { title: "Stages done", number: true, cell: ({ worker }) => count(worker.stages_done) },
        { title: "Memory", number: true, cell: ({ worker }) => bytes(worker.memory_bytes) },
        { title: "Heard", tight: true, cell: ({ worker }) => ago(worker.heard_at, now) },
        {
          title: "Since",
          tight: true,
          cell: ({ worker }) => ago(worker.joined_at ?? worker.asked_at, now),
        },
        {
          title: "Process",
          tight: true,
          cell: ({ worker }) => `${worker.launcher} ${worker.pid ?? NONE}`,
        },
        { title: "Actions", cell: ({ worker }) => <Drain worker={worker} /> },
      ]}
    />
  );
}

function Running({ worker: { running }, now }: { worker: Worker; now: number }) {
  const session = useSession();
  if (!running) return NONE;
  const { request, tenant, plugin, stage, since } = running;
  return (
    <Stack gap={0}>
      <Text size="sm">
        {plugin} · {stage}, for {span(Math.max(0, now - Date.parse(since)))}
      </Text>
      {tenant === session.tenant ? (
        <Go size="xs" to="/requests/$request" params={{ request }}>
          {request}
        </Go>
      ) : (
        <Text size="xs" c="dimmed">
          of {tenant}
        </Text>
      )}
    </Stack>
  );
}

function Drain({ worker }: { worker: Worker }) {
  const queries = useQueryClient();
  if (worker.id == null || worker.state === "draining") return null;
  const id = worker.id;
  const act = async () => {
    await data(api.POST("/v1/workers/{id}/drain", { params: { path: { id } } }));
    await queries.invalidateQueries({ queryKey: ["workers"] });
  };
  return (
    <Ask label="Drain" describes={`worker ${id}`} act={act}>
      <Text size="sm">
        Worker {id} finishes what it has in hand, gets nothing more and ends. The planner may start
        another in its place.
      </Text>
    </Ask>
  );
}
