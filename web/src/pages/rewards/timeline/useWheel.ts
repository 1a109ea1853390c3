// Wheel events over an element. React registers passive listeners, which cannot stop page
// scrolling.

import { type RefObject, useEffect, useRef } from "react";

export interface WheelMove {
  x: number;
  y: number;
  /** Ctrl is pressed, which browsers also report for a pinch on a touchpad. */
  zooms: boolean;
  timeOnly: boolean;
}

const LINE = 16;
const DELTA_MAX = 120;

/** `onWheel` returns whether it handled the event; otherwise the page scrolls. */
export function useWheel(
  element: RefObject<HTMLElement | null>,
  onWheel: (at: { x: number; y: number }, turn: WheelMove) => boolean,
): void {
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const over = element.current;
    if (!over) return;
    const listen = (event: WheelEvent) => {
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
      const bounded = (delta: number) => Math.min(Math.max(delta * unit, -DELTA_MAX), DELTA_MAX);
      // Browsers report a horizontal wheel while Shift is pressed.
      const zooms = event.ctrlKey || event.metaKey;
      const turn: WheelMove = {
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
