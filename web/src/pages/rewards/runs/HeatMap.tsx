// Heat map of shares by iteration and bin. Darker means more; a click opens the iteration.

import { Group, Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { percent, withoutZeros } from "../../../parts/format";
import { SERIES } from "../../../theme";
import type { HeatMapData } from "./fold";

const HEIGHT = 200;
/** Labels of the axis, from the top, as parts of its range. */
const TICKS = [1, 0.75, 0.5, 0.25, 0];
/** The alpha of the smallest share, so that it is visible. */
const ALPHA_MIN = 0.06;

export function HeatMap(props: {
  heat: HeatMapData;
  label: string;
  /** Name of a column. */
  name: (column: number) => string;
  /** Tells of a cell, such as `requests have a reward`. */
  tells: string;
  /** Formats the bounds of the bins. */
  format: (value: number) => string;
  onPick?: (column: number) => void;
}) {
  const { heat, label, name, format, onPick } = props;
  const scheme = useComputedColorScheme();
  const { ref, width } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<{ column: number; bin: number } | null>(null);
  const columns = heat.columns.length;

  useEffect(() => {
    const drawn = canvas.current;
    if (!drawn || width === 0) return;
    const fine = window.devicePixelRatio;
    drawn.width = Math.round(width * fine);
    drawn.height = HEIGHT * fine;
    const context = drawn.getContext("2d");
    if (!context) return;
    context.scale(fine, fine);
    paint(context, heat, width, SERIES[scheme][0]);
  }, [heat, width, scheme]);

  const cellAt = (x: number, y: number) => ({
    column: Math.min(Math.max(Math.floor((x / width) * columns), 0), columns - 1),
    bin: Math.min(Math.max(Math.floor((1 - y / HEIGHT) * heat.bins), 0), heat.bins - 1),
  });
  return (
    <div>
      <Group gap="xs" wrap="nowrap" align="stretch">
        <div className="edges" style={{ height: HEIGHT }}>
          {TICKS.map((tick) => (
            <span key={tick}>{withoutZeros(format(heat.from + tick * (heat.to - heat.from)))}</span>
          ))}
        </div>
        <div ref={ref} style={{ flex: 1, minWidth: 0 }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={label}
            style={{ width, height: HEIGHT, cursor: "pointer" }}
            onPointerMove={({ nativeEvent }) =>
              setOver(cellAt(nativeEvent.offsetX, nativeEvent.offsetY))
            }
            onPointerLeave={() => setOver(null)}
            onClick={({ nativeEvent }) =>
              onPick?.(cellAt(nativeEvent.offsetX, nativeEvent.offsetY).column)
            }
          />
        </div>
      </Group>
      <Group justify="space-between" gap="xs" mt={4}>
        <Text size="xs" c="dimmed">
          {over ? cellText(props, over) : `${name(0)} to ${name(columns - 1)}`}
        </Text>
        <Scale colour={SERIES[scheme][0]} />
      </Group>
    </div>
  );
}

/** Which colour stands for which share. */
function Scale({ colour }: { colour: string }) {
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => `${colour}${hexOf(alphaOf(share))}`);
  return (
    <Text size="xs" c="dimmed">
      0 %{" "}
      <span
        className="scale"
        style={{ background: `linear-gradient(to right, ${steps.join(", ")})` }}
      />{" "}
      100 %
    </Text>
  );
}

/** The square root makes small shares visible. */
function alphaOf(share: number): number {
  return Math.max(Math.sqrt(share), ALPHA_MIN);
}

function hexOf(alpha: number): string {
  return Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0");
}

function cellText(
  props: Pick<Parameters<typeof HeatMap>[0], "heat" | "name" | "tells" | "format">,
  at: { column: number; bin: number },
) {
  const { heat, name, tells, format } = props;
  const step = (heat.to - heat.from) / heat.bins;
  const low = heat.from + at.bin * step;
  const share = heat.columns[at.column]?.[at.bin];
  return `${name(at.column)}: ${percent(share)} of ${tells} from ${format(low)} to ${format(low + step)}`;
}

function paint(
  context: CanvasRenderingContext2D,
  heat: HeatMapData,
  width: number,
  colour: string,
): void {
  const across = width / heat.columns.length;
  const up = HEIGHT / heat.bins;
  context.fillStyle = colour;
  for (const [column, shares] of heat.columns.entries()) {
    for (const [bin, share] of (shares ?? []).entries()) {
      if (share === 0) continue;
      context.globalAlpha = alphaOf(share);
      const y = HEIGHT - (bin + 1) * up;
      context.fillRect(column * across, y, Math.max(across - (across > 6 ? 1 : 0), 1), up - 1);
    }
  }
}
