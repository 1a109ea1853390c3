// The current time for countdowns, of this computer and of the server.

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

/**
 * The server's time, whose clock may differ from this computer's: the time `at` of an answer, and what has passed
 * since the answer was read.
 */
export function serverNow(at: string, readAt: number, now: number): number {
  return Date.parse(at) + Math.max(now - readAt, 0);
}
