// The timeline of a batch with its legend, or as a table.

import { NativeSelect } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { count } from "../../../parts/format";
import { present } from "../../../parts/search";
import { linesOf, tableOf, timelineOf } from "../timeline/columns";
import { Legend } from "../timeline/Legend";
import type { Order } from "../timeline/model";
import { TimelineCanvas } from "../timeline/TimelineCanvas";
import type { Targets } from "./targets";

const route = getRouteApi("/shell/batches/$batch");

export function BatchTimeline(props: {
  answered: Schemas["Timeline"];
  targets: Targets;
  nowMs: number;
}) {
  const { answered, targets, nowMs } = props;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const timeline = useMemo(() => timelineOf(answered), [answered]);
  const lines = linesOf(targets, answered.ended_ms ?? null);
  const { size } = timeline;
  const shown = answered.thinned
    ? `${count(size)} of ${count(answered.total)} requests, sampled evenly`
    : `${count(size)} requests`;
  const live = answered.ended_ms == null ? " Grey: queued or still running." : "";
  return (
    <Figure
      title="Timeline"
      about={`${shown}, one per row. Time from the first request.${live}`}
      table={() => tableOf(timeline)}
    >
      <TimelineCanvas
        timeline={timeline}
        lines={lines}
        order={search.order ?? "arrival"}
        nowMs={nowMs}
        label={`Timeline of ${shown}`}
        legend={<Legend stages={timeline.stages.map(({ name, pool }) => `${name} (${pool})`)} />}
        controls={
          <NativeSelect
            size="xs"
            aria-label="Row order"
            data={[
              { value: "arrival", label: "By arrival" },
              { value: "end", label: "By end" },
            ]}
            value={search.order ?? "arrival"}
            onChange={({ currentTarget: { value } }) => {
              const order: Order | undefined = value === "end" ? value : undefined;
              void navigate({
                search: present({ ...search, order }),
                replace: true,
                resetScroll: false,
              });
            }}
          />
        }
        onOpen={(at) => {
          const seq = answered.requests.seq[at];
          const request = `${answered.batch.id}.${seq}`;
          if (seq !== undefined) void navigate({ to: "/requests/$request", params: { request } });
        }}
      />
    </Figure>
  );
}
