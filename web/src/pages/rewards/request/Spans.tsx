// Where a request's time went: a bar a stage, grey while it waited.

import { Stack, Text, useComputedColorScheme } from "@mantine/core";
import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { span } from "../../../parts/format";
import type { Request } from "../queries";
import { stageColours } from "../timeline/colours";
import { type Piece, piecesOf } from "./spans";

export function Spans(props: { request: Request; context: Schemas["RequestContext"] }) {
  const { request, context } = props;
  const colours = stageColours(useComputedColorScheme());
  const pieces = piecesOf(request.arrived_at, context.spans);
  const table = () => ({
    columns: ["Stage", "Pool", "Waited", "Ran", "Timeout", "Attempts"],
    rows: pieces.map((piece) => [
      piece.stage,
      piece.pool,
      span(piece.waitedMs),
      span(piece.ranMs),
      span(piece.timeoutMs),
      piece.attempts,
    ]),
  });
  return (
    <Figure title="Stages" about="Grey while it waited for a worker." table={table}>
      <Stack gap={6} role="img" aria-label={pieces.map(told).join("; ")}>
        {pieces.map((piece, at) => (
          <div key={piece.stage}>
            <Text size="sm">{told(piece)}</Text>
            <Bar piece={piece} colour={colours[at % colours.length] ?? "currentColor"} />
          </div>
        ))}
      </Stack>
    </Figure>
  );
}

function told(piece: Piece): string {
  const again = piece.attempts > 1 ? `, ${piece.attempts} attempts` : "";
  return `${piece.stage} (${piece.pool}): waited ${span(piece.waitedMs)}, ran ${span(piece.ranMs)} of ${span(piece.timeoutMs)}${again}`;
}

function Bar({ piece, colour }: { piece: Piece; colour: string }) {
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
      {part(piece.queuedAt, piece.startedAt, "var(--assay-waiting)")}
      {part(piece.startedAt, piece.endedAt, colour)}
    </div>
  );
}
