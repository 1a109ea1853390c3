// Which part of the picture is seen, and how it moves: pure, so that it can be tried without a
// screen. Rows and milliseconds are continuous; what is seen always lies within the whole.

export interface View {
  fromMs: number;
  toMs: number;
  topRow: number;
  rows: number;
}

/** What can be seen at all. */
export interface Whole {
  toMs: number;
  rows: number;
}

/** Where the rows are drawn on the canvas, in CSS pixels. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

const ROWS_MIN = 8;
const SPAN_MS_MIN = 0.05;

export function seeAll(whole: Whole): View {
  return { fromMs: 0, toMs: whole.toMs, topRow: 0, rows: Math.max(whole.rows, 1) };
}

export function isAll(view: View, whole: Whole): boolean {
  return view.toMs - view.fromMs >= whole.toMs && view.rows >= whole.rows;
}

function within(view: View, whole: Whole): View {
  const span = Math.min(Math.max(view.toMs - view.fromMs, SPAN_MS_MIN), whole.toMs);
  const least = Math.min(ROWS_MIN, whole.rows);
  const rows = Math.max(Math.min(Math.max(view.rows, least), whole.rows), 1);
  const fromMs = Math.min(Math.max(view.fromMs, 0), Math.max(whole.toMs - span, 0));
  const topRow = Math.min(Math.max(view.topRow, 0), Math.max(whole.rows - rows, 0));
  return { fromMs, toMs: fromMs + span, topRow, rows };
}

/** Shows less (`factor` below 1) or more, and what lies at the given place stays where it is. */
export function zoom(
  view: View,
  whole: Whole,
  factor: { time: number; rows: number },
  at: { ms: number; row: number },
): View {
  const fromMs = at.ms - (at.ms - view.fromMs) * factor.time;
  const toMs = at.ms + (view.toMs - at.ms) * factor.time;
  const topRow = at.row - (at.row - view.topRow) * factor.rows;
  return within({ fromMs, toMs, topRow, rows: view.rows * factor.rows }, whole);
}

export function pan(view: View, whole: Whole, by: { ms: number; rows: number }): View {
  const { fromMs, toMs, topRow, rows } = view;
  return within(
    { fromMs: fromMs + by.ms, toMs: toMs + by.ms, topRow: topRow + by.rows, rows },
    whole,
  );
}

/** Moves just far enough that the row is seen. */
export function reveal(view: View, whole: Whole, row: number): View {
  const below = row + 1 - (view.topRow + view.rows);
  const rows = row < view.topRow ? row - view.topRow : Math.max(below, 0);
  return pan(view, whole, { ms: 0, rows });
}

/** Moves in time where nothing of that stretch is seen, to its beginning. */
export function revealTime(view: View, whole: Whole, from: number, to: number): View {
  if (to >= view.fromMs && from <= view.toMs) return view;
  const margin = (view.toMs - view.fromMs) / 10;
  return pan(view, whole, { ms: from - margin - view.fromMs, rows: 0 });
}

/** The same part of a picture that grew: all of it stays all of it. */
export function grown(view: View, before: Whole, whole: Whole): View {
  return isAll(view, before) ? seeAll(whole) : within(view, whole);
}

export function xOf(view: View, frame: Frame, ms: number): number {
  return frame.left + ((ms - view.fromMs) / (view.toMs - view.fromMs)) * frame.width;
}

export function msOf(view: View, frame: Frame, x: number): number {
  return view.fromMs + ((x - frame.left) / frame.width) * (view.toMs - view.fromMs);
}

/** Of a row's upper edge. */
export function yOf(view: View, frame: Frame, row: number): number {
  return frame.top + ((row - view.topRow) / view.rows) * frame.height;
}

/** The row at a place; a fraction, as zooming wants it. */
export function rowOf(view: View, frame: Frame, y: number): number {
  return view.topRow + ((y - frame.top) / frame.height) * view.rows;
}

/** The row under the pointer; null where there is none. */
export function hit(
  view: View,
  frame: Frame,
  rows: number,
  at: { x: number; y: number },
): number | null {
  const inside =
    at.x >= frame.left &&
    at.x <= frame.left + frame.width &&
    at.y >= frame.top &&
    at.y < frame.top + frame.height;
  const row = Math.floor(rowOf(view, frame, at.y));
  return inside && row >= 0 && row < rows ? row : null;
}
