// The timeline of a batch: a row a request, on a canvas that is moved by wheel, drag and keys.

import { Button, Group, Text } from "@mantine/core";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { inWords } from "./columns";
import { keyed } from "./keys";
import { type Line, type Order, reach, rowsBy, type Timeline } from "./model";
import { type Picture, useCanvas } from "./useCanvas";
import { useWheel } from "./useWheel";
import { grown, hit, isAll, msOf, pan, revealTime, rowOf, seeAll, type View, zoom } from "./view";

const HEIGHT_MAX = 480;
const ROW_HEIGHT = 14;
const LEFT = 8;
const TOP = 56;
const BOTTOM = 24;
/** A press that moves less than this many pixels is a click. */
const STILL = 4;

/** From a request's arrival to its end, or to now. */
function extent(timeline: Timeline, at: number, nowMs: number): [number, number] {
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
  /** What the colours mean. */
  legend: ReactNode;
  /** What else is chosen here. */
  controls: ReactNode;
  /** Opens the request at this place of the columns. */
  onOpen: (at: number) => void;
}) {
  const { timeline, lines, order, nowMs, label, legend, controls, onOpen } = props;
  const rows = useMemo(() => rowsBy(timeline, order), [timeline, order]);
  const whole = { toMs: reach(timeline, nowMs, lines), rows: timeline.size };
  const [kept, setKept] = useState({ view: seeAll(whole), whole });
  const view = grown(kept.view, kept.whole, whole);
  const show = (next: View) => setKept({ view: next, whole });
  // A place in the columns, not a row: rows move while a batch lives.
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
    if (turn.zooms) {
      const factor = Math.exp(turn.y * 0.005);
      show(zoom(view, whole, { time: factor, rows: turn.timeOnly ? 1 : factor }, place));
      return true;
    }
    if (isAll(view, whole)) return false;
    const next = pan(view, whole, {
      ms: (turn.x / frame.width) * (view.toMs - view.fromMs),
      rows: (turn.y / frame.height) * view.rows,
    });
    show(next);
    return next.topRow !== view.topRow || next.fromMs !== view.fromMs;
  });

  const drag = useRef<{ x: number; y: number; view: View; moved: boolean } | null>(null);
  const move = (x: number, y: number) => {
    const held = drag.current;
    if (!held) {
      const over = hit(view, frame, rows.length, { x, y });
      setChosen(over === null ? null : (rows[over] ?? null));
      return;
    }
    held.moved ||= Math.hypot(x - held.x, y - held.y) > STILL;
    if (!held.moved) return;
    const { fromMs, toMs } = held.view;
    const ms = ((held.x - x) / frame.width) * (toMs - fromMs);
    show(pan(held.view, whole, { ms, rows: ((held.y - y) / frame.height) * held.view.rows }));
  };
  const release = (x: number, y: number) => {
    const clicked = drag.current && !drag.current.moved;
    drag.current = null;
    const over = clicked ? hit(view, frame, rows.length, { x, y }) : null;
    const at = over === null ? undefined : rows[over];
    if (at !== undefined) onOpen(at);
  };

  const press = (key: string): boolean => {
    if (key === "Enter") {
      if (chosen !== null) onOpen(chosen);
      return true;
    }
    const next = rows.length > 0 ? keyed(key, { view, row }, whole) : null;
    if (!next) return false;
    const at = next.row === null ? null : (rows[next.row] ?? null);
    setChosen(at);
    const moved = at !== null && next.row !== row;
    show(moved ? revealTime(next.view, whole, ...extent(timeline, at, nowMs)) : next.view);
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
            All
          </Button>
        </Group>
      </Group>
      <div
        ref={host}
        role="application"
        aria-label={`${label}. Up and down choose a request, Enter opens it, left and right move in time, plus and minus zoom, 0 shows all.`}
        aria-describedby={readout}
        className="timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, as its label says
        tabIndex={0}
        onKeyDown={(event) => {
          const held = event.ctrlKey || event.metaKey || event.altKey;
          if (!held && press(event.key)) event.preventDefault();
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
      <Text id={readout} size="xs" c="dimmed" mih="2.8em" role="status">
        {chosen === null
          ? "Point at a request to read it, click to open it. Ctrl and the wheel zoom, with Shift in time only; drag or wheel to move."
          : inWords(timeline, chosen)}
      </Text>
    </div>
  );
}
