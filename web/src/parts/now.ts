// The current time for countdowns.

import { useEffect, useState } from "react";

/** Updates every `everyMs` while the page is visible and `ticking` is true. */
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
