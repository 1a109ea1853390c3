// The time of day for what counts down on a page, no faster than one can read.

import { useEffect, useState } from "react";

/** Anew each `everyMs` while the page is seen; stands still where `ticking` is false. */
export function useNow(ticking = true, everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [ticking, everyMs]);
  return now;
}
