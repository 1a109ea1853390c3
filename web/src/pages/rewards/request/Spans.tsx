// Times of a request by stage: one bar per stage, grey while queued.

import { Stack, Text, useComputedColorScheme } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { span } from "../../../parts/format";
import type { Request } from "../queries";
import { stageColours } from "../timeline/colours";
import { type StageSpan, stageSpansOf } from "./spans";

export function Spans(props: { request: Request; context: Schemas["RequestContext"] }) {
  const { request, context } = props;
  const colours = stageColours(useComputedColorScheme());
  const stageSpans = stageSpansOf(request.arrived_at, context.spans);
  const table = () => ({
    columns: ["Stage", "Pool", "Waited", "Ran", "Timeout", "Attempts"],
    rows: stageSpans.map((stageSpan) => [
      stageSpan.stage,
      stageSpan.pool,
      span(stageSpan.waitedMs),
      span(stageSpan.ranMs),
      span(stageSpan.timeoutMs),
      stageSpan.attempts,
    ]),
  });
  return (
    <Figure title="Stages" about="Grey: queued for a worker." table={table}>
      <Stack gap={6} role="img" aria-label={stageSpans.map(stageText).join("; ")}>
        {stageSpans.map((stageSpan, at) => (
          <div key={stageSpan.stage}>
            <Text size="sm">{stageText(stageSpan)}</Text>
            <Bar stageSpan={stageSpan} colour={colours[at % colours.length] ?? "currentColor"} />
          </div>
        ))}
      </Stack>
    </Figure>
  );
}

function stageText(stageSpan: StageSpan): string {
  const attempts = stageSpan.attempts > 1 ? `, ${stageSpan.attempts} attempts` : "";
  return `${stageSpan.stage} (${stageSpan.pool}): waited ${span(stageSpan.waitedMs)}, ran ${span(stageSpan.ranMs)} (timeout ${span(stageSpan.timeoutMs)})${attempts}`;
}

function Bar({ stageSpan, colour }: { stageSpan: StageSpan; colour: string }) {
  const part = (from: number, to: number, background: string) => (
    <div
      style={{
        position: "absolute",
        left: `${from * 100}%`,
        width: `max(${(to - from) * 100}%, 1px)`,
        height: "100%",
        background,
      }}
    />
  );
  return (
    <div style={{ position: "relative", height: 12, background: "var(--assay-grid)" }}>
      {part(stageSpan.queuedAt, stageSpan.startedAt, "var(--assay-waiting)")}
      {part(stageSpan.startedAt, stageSpan.endedAt, colour)}
    </div>
  );
}
