// The wheel over an element. React listens passively, which cannot keep the page from scrolling.

import { type RefObject, useEffect, useRef } from "react";

export interface Turn {
  x: number;
  y: number;
  /** With Ctrl, as pinching on a touch pad comes too. */
  zooms: boolean;
  timeOnly: boolean;
}

const LINE = 16;
const MOST = 120;

/** `turned` says whether it took the turn; what it left scrolls the page. */
export function useWheel(
  element: RefObject<HTMLElement | null>,
  turned: (at: { x: number; y: number }, turn: Turn) => boolean,
): void {
  const latest = useRef(turned);
  latest.current = turned;
  useEffect(() => {
    const over = element.current;
    if (!over) return;
    const listen = (event: WheelEvent) => {
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
      const bounded = (delta: number) => Math.min(Math.max(delta * unit, -MOST), MOST);
      // Browsers turn the wheel sideways while Shift is held.
      const zooms = event.ctrlKey || event.metaKey;
      const turn: Turn = {
        x: bounded(event.deltaX),
        y: bounded(zooms && event.shiftKey ? event.deltaX || event.deltaY : event.deltaY),
        zooms,
        timeOnly: event.shiftKey,
      };
      if (latest.current({ x: event.offsetX, y: event.offsetY }, turn)) event.preventDefault();
    };
    over.addEventListener("wheel", listen, { passive: false });
    return () => over.removeEventListener("wheel", listen);
  }, [element]);
}
