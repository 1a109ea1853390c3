// The timeline of a batch on a canvas, one row per request. Wheel, drag and keys move it.

import { Button, Group, Text } from "@mantine/core";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { describeRequest } from "./columns";
import { pressKey } from "./keys";
import { Minimap } from "./Minimap";
import { type Line, lastMs, type Order, rowsBy, type Timeline } from "./model";
import { type Picture, useCanvas } from "./useCanvas";
import { useWheel } from "./useWheel";
import {
  fullView,
  isFullView,
  msOf,
  pan,
  resized,
  revealTime,
  rowAt,
  rowOf,
  type View,
  zoom,
} from "./view";

const HEIGHT_MAX = 480;
const ROW_HEIGHT = 14;
const LEFT = 8;
const TOP = 56;
const BOTTOM = 24;
/** A press that moves less than this many pixels is a click. */
const STILL = 4;

/** Start and end of a request; the end is now while it is in progress. */
function requestSpan(timeline: Timeline, at: number, nowMs: number): [number, number] {
  const from = timeline.arrived[at] ?? 0;
  const to = timeline.finished[at] ?? Number.NaN;
  return [from, Number.isNaN(to) ? Math.max(nowMs, from) : to];
}

export function TimelineCanvas(props: {
  timeline: Timeline;
  lines: readonly Line[];
  order: Order;
  nowMs: number;
  label: string;
  /** Legend of the colours. */
  legend: ReactNode;
  /** Further controls of the timeline. */
  controls: ReactNode;
  /** Opens the request with this column index. */
  onOpen: (at: number) => void;
}) {
  const { timeline, lines, order, nowMs, label, legend, controls, onOpen } = props;
  const rows = useMemo(() => rowsBy(timeline, order), [timeline, order]);
  const extent = { toMs: lastMs(timeline, nowMs, lines), rows: timeline.size };
  const [last, setLast] = useState({ view: fullView(extent), extent });
  const view = resized(last.view, last.extent, extent);
  const show = (next: View) => setLast({ view: next, extent });
  // A column index, not a row: rows move while a batch is live.
  const [chosen, setChosen] = useState<number | null>(null);
  const row = chosen === null ? null : rows.indexOf(chosen);
  const height = Math.min(HEIGHT_MAX, Math.max(timeline.size, 2) * ROW_HEIGHT);
  const picture: Picture = { timeline, rows, view, nowMs, lines, chosen: row };
  const { host, canvas, frame } = useCanvas(picture, {
    left: LEFT,
    top: TOP,
    bottom: BOTTOM,
    height,
  });
  const readout = useId();

  useWheel(canvas, (at, turn) => {
    const place = { ms: msOf(view, frame, at.x), row: rowOf(view, frame, at.y) };
    // With the focus the wheel is meant for the timeline, otherwise for the page.
    const focused = canvas.current?.parentElement === document.activeElement;
    if (turn.zooms || (focused && Math.abs(turn.y) > Math.abs(turn.x))) {
      const factor = Math.exp(turn.y * 0.005);
      show(zoom(view, extent, { time: factor, rows: turn.timeOnly ? 1 : factor }, place));
      return true;
    }
    if (isFullView(view, extent)) return false;
    const next = pan(view, extent, {
      ms: (turn.x / frame.width) * (view.toMs - view.fromMs),
      rows: (turn.y / frame.height) * view.rows,
    });
    show(next);
    return next.topRow !== view.topRow || next.fromMs !== view.fromMs;
  });

  const drag = useRef<{ x: number; y: number; view: View; moved: boolean } | null>(null);
  const move = (x: number, y: number) => {
    const active = drag.current;
    if (!active) {
      const over = rowAt(view, frame, rows.length, { x, y });
      setChosen(over === null ? null : (rows[over] ?? null));
      return;
    }
    active.moved ||= Math.hypot(x - active.x, y - active.y) > STILL;
    if (!active.moved) return;
    const { fromMs, toMs } = active.view;
    const ms = ((active.x - x) / frame.width) * (toMs - fromMs);
    show(
      pan(active.view, extent, { ms, rows: ((active.y - y) / frame.height) * active.view.rows }),
    );
  };
  const release = (x: number, y: number) => {
    const clicked = drag.current && !drag.current.moved;
    drag.current = null;
    const over = clicked ? rowAt(view, frame, rows.length, { x, y }) : null;
    const at = over === null ? undefined : rows[over];
    if (at !== undefined) onOpen(at);
  };

  const press = (key: string): boolean => {
    if (key === "Enter") {
      if (chosen !== null) onOpen(chosen);
      return true;
    }
    const next = rows.length > 0 ? pressKey(key, { view, row }, extent) : null;
    if (!next) return false;
    const at = next.row === null ? null : (rows[next.row] ?? null);
    setChosen(at);
    const moved = at !== null && next.row !== row;
    show(moved ? revealTime(next.view, extent, ...requestSpan(timeline, at, nowMs)) : next.view);
    return true;
  };

  return (
    <div>
      <Group gap="sm" mb={4} justify="space-between">
        {legend}
        <Group gap={6}>
          {controls}
          <Button
            size="compact-xs"
            variant="default"
            aria-label="Zoom in"
            onClick={() => press("+")}
          >
            +
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            aria-label="Zoom out"
            onClick={() => press("-")}
          >
            −
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => press("0")}>
            Show all
          </Button>
        </Group>
      </Group>
      <div
        ref={host}
        role="application"
        aria-label={`${label}. Up and down select a request, Enter opens it, left and right pan in time, plus and minus zoom, 0 shows all.`}
        aria-describedby={readout}
        className="timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it handles keys, as its label says
        tabIndex={0}
        onKeyDown={(event) => {
          const modified = event.ctrlKey || event.metaKey || event.altKey;
          if (!modified && press(event.key)) event.preventDefault();
        }}
      >
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          style={{ cursor: chosen === null ? "default" : "pointer" }}
          onPointerDown={({
            nativeEvent: { offsetX: x, offsetY: y, pointerId },
            currentTarget,
          }) => {
            currentTarget.setPointerCapture(pointerId);
            drag.current = { x, y, view, moved: false };
          }}
          onPointerMove={({ nativeEvent }) => move(nativeEvent.offsetX, nativeEvent.offsetY)}
          onPointerUp={({ nativeEvent }) => release(nativeEvent.offsetX, nativeEvent.offsetY)}
          onPointerLeave={() => {
            if (!drag.current) setChosen(null);
          }}
        />
      </div>
      <Minimap
        timeline={timeline}
        nowMs={nowMs}
        view={view}
        extent={extent}
        margin={LEFT}
        onShow={show}
      />
      <Text id={readout} size="xs" c="dimmed" mih="2.8em" role="status">
        {chosen === null
          ? "Hover for details, click to open. Drag pans; Ctrl+wheel zooms, or the wheel alone once the timeline has the focus. Drag in the overview to choose a time range."
          : describeRequest(timeline, chosen)}
      </Text>
    </div>
  );
}
