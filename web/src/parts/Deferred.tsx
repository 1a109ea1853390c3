// Renders a part of a page after the rest of it.

import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { useSeen } from "./useSeen";

/** Time after which a part that is not near the window is rendered, so that a search in the page finds it. */
const LATEST_MS = 1_000;

/**
 * Renders its children when they come near the window, and otherwise a second after what is around
 * them. For what lies below the first screen and takes long to render, such as tables. Nothing
 * jumps, because the place is kept.
 */
export function Deferred({ height, children }: { height: number; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const seen = useSeen(place);
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATEST_MS);
    return () => clearTimeout(timer);
  }, []);
  const ready = useDeferredValue(seen || late, false);
  return ready ? children : <div ref={place} style={{ height }} />;
}
