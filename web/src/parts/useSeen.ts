// Tells whether a part of a page has come near the window.

import { type RefObject, useEffect, useState } from "react";

/** Pixels around the window within which a part counts as near. */
const MARGIN = 400;

/** Whether the element has been near the window: a page of many parts draws first those that are seen first. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current || seen) return;
    const see = (entries: IntersectionObserverEntry[]) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    };
    const observer = new IntersectionObserver(see, { rootMargin: `${MARGIN}px` });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, seen]);
  return seen;
}
