// Draws a timeline on a canvas. The visible part, the order and the position are given.

import { span } from "../../../parts/format";
import type { Line, Timeline } from "./model";
import { lanes, ticks } from "./ticks";
import { type Frame, type View, xOf, yOf } from "./view";

export interface Colours {
  ink: string;
  ground: string;
  grid: string;
  waiting: string;
  bad: string;
  late: string;
  mark: string;
  stages: readonly string[];
}

export interface Scene {
  timeline: Timeline;
  /** Column index of the request in each row. */
  rows: Uint32Array;
  view: View;
  frame: Frame;
  /** Time up to which unfinished requests are drawn; NaN if all have ended. */
  nowMs: number;
  lines: readonly Line[];
  /** The row under the pointer. */
  chosen: number | null;
  colours: Colours;
}

const FONT_SIZE = "11px";
const LANE = 14;
/** Minimum size of a bar in pixels, so that every request is visible. */
const WIDTH_MIN = 0.75;
const THICK_MIN = 0.75;

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { frame, colours } = scene;
  context.font = `${FONT_SIZE} ${getComputedStyle(document.body).fontFamily}`;
  axis(context, scene);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.width, frame.height);
  context.clip();
  bars(context, scene);
  ends(context, scene);
  outline(context, scene, scene.timeline.critical, colours.ink, []);
  if (scene.timeline.last !== scene.timeline.critical) {
    outline(context, scene, scene.timeline.last, colours.late, [3, 2]);
  }
  if (scene.chosen !== null) {
    outline(context, scene, scene.rows[scene.chosen] ?? -1, colours.mark, []);
  }
  context.restore();
  verticals(context, scene);
}

function axis(context: CanvasRenderingContext2D, { view, frame, colours }: Scene): void {
  context.fillStyle = colours.grid;
  const bottom = frame.top + frame.height;
  const places = ticks(view.fromMs, view.toMs, Math.max(Math.floor(frame.width / 90), 2));
  for (const place of places) {
    context.fillRect(Math.round(xOf(view, frame, place)), frame.top, 1, frame.height);
  }
  context.fillStyle = colours.ink;
  context.textBaseline = "top";
  for (const place of places) {
    const text = span(place);
    const half = context.measureText(text).width / 2;
    const x = xOf(view, frame, place);
    const textX = Math.min(Math.max(x - half, frame.left), frame.left + frame.width - 2 * half);
    context.fillText(text, textX, bottom + 6);
  }
}

/**
 * Draws bars: grey while queued, the stage's colour while running. One pass over the rows per
 * colour.
 */
function bars(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, view, frame, nowMs, colours } = scene;
  const scale = frame.width / (view.toMs - view.fromMs);
  const offset = frame.left - view.fromMs * scale;
  const right = frame.left + frame.width;
  const first = Math.max(Math.floor(view.topRow), 0);
  const rowsEnd = Math.min(Math.ceil(view.topRow + view.rows), scene.rows.length);
  const step = frame.height / view.rows;
  const thick = step >= 8 ? step - 2 : step >= 3 ? step - 1 : Math.max(step, THICK_MIN);
  const pass = (colour: string, from: Float64Array, to: Float64Array, open: boolean) => {
    context.fillStyle = colour;
    for (let row = first; row < rowsEnd; row += 1) {
      const at = scene.rows[row] ?? 0;
      const start = from[at] ?? Number.NaN;
      let end = to[at] ?? Number.NaN;
      if (Number.isNaN(end) && open) end = nowMs;
      if (!(end >= start)) continue;
      const x = start * scale + offset;
      const width = Math.max((end - start) * scale, WIDTH_MIN);
      if (x > right || x + width < frame.left) continue;
      context.fillRect(x, frame.top + (row - view.topRow) * step, width, thick);
    }
  };
  for (const [at, stage] of timeline.stages.entries()) {
    pass(colours.waiting, stage.queued, stage.started, true);
    pass(
      colours.stages[at % colours.stages.length] ?? colours.ink,
      stage.started,
      stage.ended,
      false,
    );
  }
}

/** Marks the end of failed and timed-out requests, large enough to be seen in a small scale. */
function ends(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, view, frame, colours } = scene;
  const step = frame.height / view.rows;
  const thick = Math.max(step - 1, 2);
  for (let row = 0; row < scene.rows.length; row += 1) {
    const at = scene.rows[row] ?? 0;
    const kind = timeline.kinds[at];
    if (kind !== "error" && kind !== "timed_out") continue;
    const x = xOf(view, frame, timeline.finished[at] ?? Number.NaN);
    const y = yOf(view, frame, row);
    if (y + thick < frame.top || y > frame.top + frame.height) continue;
    context.fillStyle = kind === "error" ? colours.bad : colours.late;
    // A failure is a wedge and a timeout a bar, so that the shape also distinguishes them.
    if (kind === "timed_out") context.fillRect(x, y, 4, thick);
    else wedge(context, x, y, thick);
  }
}

function wedge(context: CanvasRenderingContext2D, x: number, y: number, thick: number): void {
  const tall = Math.max(thick, 5);
  const middle = y + thick / 2;
  context.beginPath();
  context.moveTo(x, middle);
  context.lineTo(x + 7, middle - tall / 2);
  context.lineTo(x + 7, middle + tall / 2);
  context.fill();
}

function outline(
  context: CanvasRenderingContext2D,
  scene: Scene,
  at: number,
  colour: string,
  dash: number[],
): void {
  const row = scene.rows.indexOf(at);
  if (at < 0 || row < 0) return;
  const { timeline, view, frame, nowMs } = scene;
  const finished = timeline.finished[at] ?? Number.NaN;
  const from = xOf(view, frame, timeline.arrived[at] ?? 0);
  const to = xOf(view, frame, Number.isNaN(finished) ? nowMs : finished);
  const height = Math.max(frame.height / view.rows, 5);
  const middle = yOf(view, frame, row + 0.5);
  context.save();
  context.setLineDash(dash);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.strokeRect(from - 2, middle - height / 2 - 1, to - from + 4, height + 1);
  context.restore();
}

/** Draws the vertical lines with their labels above the rows. */
function verticals(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, frame, colours } = scene;
  const right = frame.left + frame.width;
  const shown = scene.lines.filter(({ atMs }) => atMs >= view.fromMs && atMs <= view.toMs);
  const labels = shown
    .map((line) => {
      const width = context.measureText(line.label).width + 8;
      const lineX = xOf(view, frame, line.atMs);
      return { line, lineX, width, x: Math.min(lineX, right - width) };
    })
    .sort((one, other) => one.x - other.x);
  const lane = lanes(labels, 4);
  const middle = (at: number) => Math.max(frame.top - 10 - (lane[at] ?? 0) * LANE, 8);
  context.textBaseline = "middle";
  for (const [at, { line, lineX }] of labels.entries()) {
    context.save();
    context.strokeStyle = colours[line.tone];
    context.lineWidth = 1.5;
    context.setLineDash(line.dashed ? [6, 4] : []);
    context.beginPath();
    context.moveTo(lineX, middle(at));
    context.lineTo(lineX, frame.top + frame.height);
    context.stroke();
    context.restore();
  }
  // Labels are drawn after the lines, so that no line crosses them.
  for (const [at, { line, x, width }] of labels.entries()) {
    context.fillStyle = colours.ground;
    context.fillRect(x, middle(at) - 7, width, LANE);
    context.fillStyle = colours[line.tone];
    context.fillText(line.label, x + 4, middle(at));
  }
}
