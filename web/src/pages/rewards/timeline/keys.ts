// Key bindings of the timeline: select a row, pan and zoom.

import { type Extent, fullView, pan, reveal, type View, zoom } from "./view";

export interface ViewState {
  view: View;
  /** The selected row. */
  row: number | null;
}

const ZOOM_FACTOR = 0.6;
const PAN_SHARE = 0.1;

/** Null if the key has no function here. */
export function pressKey(key: string, { view, row }: ViewState, extent: Extent): ViewState | null {
  const choose = (target: number): ViewState => {
    const next = Math.min(Math.max(target, 0), extent.rows - 1);
    return { view: reveal(view, extent, next), row: next };
  };
  const zoomed = (factor: number): ViewState => {
    const at = { ms: (view.fromMs + view.toMs) / 2, row: row ?? view.topRow + view.rows / 2 };
    return { view: zoom(view, extent, { time: factor, rows: factor }, at), row };
  };
  const panned = (share: number): ViewState => {
    const ms = (view.toMs - view.fromMs) * share;
    return { view: pan(view, extent, { ms, rows: 0 }), row };
  };
  const first = Math.floor(view.topRow);
  const page = Math.max(Math.floor(view.rows), 1);
  switch (key) {
    case "+":
    case "=":
      return zoomed(ZOOM_FACTOR);
    case "-":
      return zoomed(1 / ZOOM_FACTOR);
    case "0":
      return { view: fullView(extent), row };
    case "ArrowLeft":
      return panned(-PAN_SHARE);
    case "ArrowRight":
      return panned(PAN_SHARE);
    case "ArrowUp":
      return choose(row === null ? first : row - 1);
    case "ArrowDown":
      return choose(row === null ? first : row + 1);
    case "PageUp":
      return choose((row ?? first) - page);
    case "PageDown":
      return choose((row ?? first) + page);
    case "Home":
      return choose(0);
    case "End":
      return choose(extent.rows - 1);
    default:
      return null;
  }
}
