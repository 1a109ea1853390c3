// What the keys do to a timeline: choose a row, move and zoom what is seen.

import { pan, reveal, seeAll, type View, type Whole, zoom } from "./view";

export interface Looking {
  view: View;
  /** The chosen row. */
  row: number | null;
}

const CLOSER = 0.6;
const ASIDE = 0.1;

/** Null where the key does nothing here. */
export function keyed(key: string, { view, row }: Looking, whole: Whole): Looking | null {
  const choose = (wanted: number): Looking => {
    const next = Math.min(Math.max(wanted, 0), whole.rows - 1);
    return { view: reveal(view, whole, next), row: next };
  };
  const zoomed = (factor: number): Looking => {
    const at = { ms: (view.fromMs + view.toMs) / 2, row: row ?? view.topRow + view.rows / 2 };
    return { view: zoom(view, whole, { time: factor, rows: factor }, at), row };
  };
  const aside = (share: number): Looking => {
    const ms = (view.toMs - view.fromMs) * share;
    return { view: pan(view, whole, { ms, rows: 0 }), row };
  };
  const first = Math.floor(view.topRow);
  const page = Math.max(Math.floor(view.rows), 1);
  switch (key) {
    case "+":
    case "=":
      return zoomed(CLOSER);
    case "-":
      return zoomed(1 / CLOSER);
    case "0":
      return { view: seeAll(whole), row };
    case "ArrowLeft":
      return aside(-ASIDE);
    case "ArrowRight":
      return aside(ASIDE);
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
      return choose(whole.rows - 1);
    default:
      return null;
  }
}
