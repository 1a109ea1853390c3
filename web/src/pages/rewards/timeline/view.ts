// The visible part of the timeline and its movements. Pure, so that tests need no screen. Rows and
// milliseconds are continuous; the visible part always lies within the extent.

export interface View {
  fromMs: number;
  toMs: number;
  topRow: number;
  rows: number;
}

/** Size of the whole timeline. */
export interface Extent {
  toMs: number;
  rows: number;
}

/** Position of the rows on the canvas, in CSS pixels. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

const ROWS_MIN = 8;
const SPAN_MS_MIN = 0.05;

export function fullView(extent: Extent): View {
  return { fromMs: 0, toMs: extent.toMs, topRow: 0, rows: Math.max(extent.rows, 1) };
}

export function isFullView(view: View, extent: Extent): boolean {
  return view.toMs - view.fromMs >= extent.toMs && view.rows >= extent.rows;
}

function within(view: View, extent: Extent): View {
  const span = Math.min(Math.max(view.toMs - view.fromMs, SPAN_MS_MIN), extent.toMs);
  const least = Math.min(ROWS_MIN, extent.rows);
  const rows = Math.max(Math.min(Math.max(view.rows, least), extent.rows), 1);
  const fromMs = Math.min(Math.max(view.fromMs, 0), Math.max(extent.toMs - span, 0));
  const topRow = Math.min(Math.max(view.topRow, 0), Math.max(extent.rows - rows, 0));
  return { fromMs, toMs: fromMs + span, topRow, rows };
}

/** Zooms in (`factor` below 1) or out around a fixed point. */
export function zoom(
  view: View,
  extent: Extent,
  factor: { time: number; rows: number },
  at: { ms: number; row: number },
): View {
  const fromMs = at.ms - (at.ms - view.fromMs) * factor.time;
  const toMs = at.ms + (view.toMs - at.ms) * factor.time;
  const topRow = at.row - (at.row - view.topRow) * factor.rows;
  return within({ fromMs, toMs, topRow, rows: view.rows * factor.rows }, extent);
}

export function pan(view: View, extent: Extent, by: { ms: number; rows: number }): View {
  const { fromMs, toMs, topRow, rows } = view;
  return within(
    { fromMs: fromMs + by.ms, toMs: toMs + by.ms, topRow: topRow + by.rows, rows },
    extent,
  );
}

/** Shows the time between two moments, in either order. */
export function showTime(view: View, extent: Extent, one: number, other: number): View {
  const fromMs = Math.max(Math.min(one, other), 0);
  const toMs = Math.min(Math.max(one, other), extent.toMs);
  return within({ ...view, fromMs, toMs }, extent);
}

/** Moves the visible time so that a moment is in its middle. */
export function centre(view: View, extent: Extent, ms: number): View {
  return pan(view, extent, { ms: ms - (view.fromMs + view.toMs) / 2, rows: 0 });
}

/** Scrolls as little as needed to show the row. */
export function reveal(view: View, extent: Extent, row: number): View {
  const below = row + 1 - (view.topRow + view.rows);
  const rows = row < view.topRow ? row - view.topRow : Math.max(below, 0);
  return pan(view, extent, { ms: 0, rows });
}

/** Pans to the start of the time range if no part of it is visible. */
export function revealTime(view: View, extent: Extent, from: number, to: number): View {
  if (to >= view.fromMs && from <= view.toMs) return view;
  const margin = (view.toMs - view.fromMs) / 10;
  return pan(view, extent, { ms: from - margin - view.fromMs, rows: 0 });
}

/** Keeps the visible part when the extent grows; a full view stays a full view. */
export function resized(view: View, before: Extent, extent: Extent): View {
  return isFullView(view, before) ? fullView(extent) : within(view, extent);
}

export function xOf(view: View, frame: Frame, ms: number): number {
  return frame.left + ((ms - view.fromMs) / (view.toMs - view.fromMs)) * frame.width;
}

export function msOf(view: View, frame: Frame, x: number): number {
  return view.fromMs + ((x - frame.left) / frame.width) * (view.toMs - view.fromMs);
}

/** Y position of the upper edge of a row. */
export function yOf(view: View, frame: Frame, row: number): number {
  return frame.top + ((row - view.topRow) / view.rows) * frame.height;
}

/** Row at a y position, with a fraction, which zooming needs. */
export function rowOf(view: View, frame: Frame, y: number): number {
  return view.topRow + ((y - frame.top) / frame.height) * view.rows;
}

/** Row under the pointer; null if there is none. */
export function rowAt(
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
