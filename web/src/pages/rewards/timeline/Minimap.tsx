// The whole time of a batch below its timeline: the requests in progress, and a window over the visible part. A
// drag chooses another part. Keys do the same on the timeline itself.

import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { inProgress, type Timeline } from "./model";
import { coloursOf, sized } from "./useCanvas";
import { centre, type Extent, type Frame, fullView, msOf, showTime, type View, xOf } from "./view";

const HEIGHT = 28;
/** Width of a part of the curve, in pixels. */
const BIN = 2;
/** A press that moves less than this many pixels is a click. */
const STILL = 4;

export function Minimap(props: {
  timeline: Timeline;
  nowMs: number;
  view: View;
  extent: Extent;
  /** Pixels on both sides, as the timeline has. */
  margin: number;
  onShow: (view: View) => void;
}) {
  const { timeline, nowMs, view, extent, margin, onShow } = props;
  const scheme = useComputedColorScheme();
  const { ref, width } = useElementSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const whole = fullView(extent);
  const frame: Frame = {
    left: margin,
    top: 0,
    width: Math.max(width - 2 * margin, 1),
    height: HEIGHT,
  };
  const [from, to] = drag
    ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]
    : [xOf(whole, frame, view.fromMs), xOf(whole, frame, view.toMs)];
  useEffect(() => {
    const drawn = canvas.current;
    const context = drawn && width > 0 ? sized(drawn, width, HEIGHT) : null;
    if (!context) return;
    const colours = coloursOf(scheme);
    const bins = Math.max(Math.floor(frame.width / BIN), 1);
    const counts = inProgress(timeline, nowMs, extent.toMs, bins);
    const scale = (HEIGHT - 2) / Math.max(...counts, 1);
    context.fillStyle = colours.waiting;
    for (const [at, count] of counts.entries()) {
      const tall = count * scale;
      context.fillRect(frame.left + at * BIN, HEIGHT - tall, BIN, tall);
    }
    context.strokeStyle = colours.mark;
    context.lineWidth = 1.5;
    context.strokeRect(from, 1, Math.max(to - from, 2), HEIGHT - 2);
  });
  const release = (x: number) => {
    if (!drag) return;
    setDrag(null);
    const [one, other] = [msOf(whole, frame, drag.from), msOf(whole, frame, x)];
    const still = Math.abs(x - drag.from) < STILL;
    onShow(still ? centre(view, extent, other) : showTime(view, extent, one, other));
  };
  return (
    <div ref={ref} aria-hidden className="minimap">
      <canvas
        ref={canvas}
        title="Drag to choose a time range"
        style={{ display: "block", cursor: "crosshair", touchAction: "none" }}
        onPointerDown={({ nativeEvent: { offsetX, pointerId }, currentTarget }) => {
          currentTarget.setPointerCapture(pointerId);
          setDrag({ from: offsetX, to: offsetX });
        }}
        onPointerMove={({ nativeEvent: { offsetX } }) => {
          if (drag) setDrag({ ...drag, to: offsetX });
        }}
        onPointerUp={({ nativeEvent: { offsetX } }) => release(offsetX)}
        onPointerCancel={() => setDrag(null)}
      />
    </div>
  );
}
