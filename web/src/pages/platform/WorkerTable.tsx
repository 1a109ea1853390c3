// Table of workers, each with an action that drains it.

import { Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data } from "../../api/client";
import { useSession } from "../../api/session";
import { Badge, type Tone } from "../../parts/Badge";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { ago, bytes, count, NONE, span } from "../../parts/format";
import { SortedGrid } from "../../parts/SortedGrid";
import { TextLink } from "../../parts/TextLink";
import type { Worker } from "./queries";

interface Row {
  worker: Worker;
  key: string | number;
}

const TONES: Record<Worker["state"], Tone> = {
  starting: "waiting",
  idle: "good",
  busy: "mark",
  draining: "late",
};

const ARCHITECTURE = {
  title: "Architecture",
  value: ({ worker }: Row) => worker.architecture,
  cell: ({ worker }: Row) => worker.architecture ?? NONE,
};

/** `at`: the server's time when it listed the workers. */
export function WorkerTable({ workers, at }: { workers: Worker[]; at: string }) {
  const now = Date.parse(at);
  const rows = useMemo(
    () => workers.map((worker, place): Row => ({ worker, key: worker.id ?? `new ${place}` })),
    [workers],
  );
  const architectures = new Set(workers.flatMap(({ architecture }) => architecture ?? []));
  return (
    <SortedGrid
      caption="Workers"
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { title: "ID", value: ({ worker }) => worker.id, cell: ({ worker }) => worker.id ?? NONE },
        { title: "Pool", value: ({ worker }) => worker.pool, cell: ({ worker }) => worker.pool },
        ...(architectures.size > 1 ? [ARCHITECTURE] : []),
        {
          title: "State",
          value: ({ worker }) => worker.state,
          cell: ({ worker: { state } }) => <Badge tone={TONES[state]}>{state}</Badge>,
        },
        { title: "Running", cell: ({ worker }) => <Running worker={worker} now={now} /> },
        {
          title: "Leases",
          number: true,
          value: ({ worker }) => worker.in_hand,
          cell: ({ worker }) => count(worker.in_hand),
        },
        {
          title: "Stages completed",
          number: true,
          value: ({ worker }) => worker.stages_done,
          cell: ({ worker }) => count(worker.stages_done),
        },
        {
          title: "Memory",
          number: true,
          value: ({ worker }) => worker.memory_bytes,
          cell: ({ worker }) => bytes(worker.memory_bytes),
        },
        {
          title: "Last message",
          tight: true,
          value: ({ worker }) => worker.heard_at,
          cell: ({ worker }) => ago(worker.heard_at, now),
        },
        {
          title: "Started",
          tight: true,
          value: ({ worker }) => worker.joined_at ?? worker.asked_at,
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
        <TextLink size="xs" to="/requests/$request" params={{ request }}>
          {request}
        </TextLink>
      ) : (
        <Text size="xs" c="dimmed">
          tenant {tenant}
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
    <ConfirmButton
      label="Drain"
      describes={`worker ${id}`}
      act={act}
      done={`Worker ${id} ends after what it runs`}
    >
      <Text size="sm">
        Worker {id} finishes its leases, gets no new ones and stops. The planner may start another
        worker in its place.
      </Text>
    </ConfirmButton>
  );
}
