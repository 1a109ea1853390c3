// Keeps the height that its content once had, so that live sections do not move those below them.

import { type ReactNode, useEffect, useRef } from "react";

export function Steady({ minHeight, children }: { minHeight: number; children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    let highest = minHeight;
    const observer = new ResizeObserver(() => {
      const height = element.firstElementChild?.getBoundingClientRect().height ?? 0;
      if (height <= highest) return;
      highest = height;
      element.style.minHeight = `${height}px`;
    });
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [minHeight]);
  return (
    <div ref={frame} className="steady" style={{ minHeight }}>
      {children}
    </div>
  );
}
