// Renders a part of a page after the rest of it.

import { type ReactNode, useDeferredValue } from "react";

/**
 * Renders its children after what is around them is on the screen. For what lies below the first
 * screen and takes long to render, such as tables. Nothing jumps, because the place is kept.
 */
export function Deferred({ height, children }: { height: number; children: ReactNode }) {
  const ready = useDeferredValue(true, false);
  return ready ? children : <div style={{ height }} />;
}
