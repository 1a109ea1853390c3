// A canvas with the width of its container and the resolution of the screen, redrawn at most once
// per frame.

import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type RefObject, useEffect, useRef } from "react";
import { useFonts } from "../../../parts/useFonts";
import { stageColours } from "./colours";
import { type Colours, draw, type Scene } from "./draw";
import type { Frame } from "./view";

export type Picture = Omit<Scene, "frame" | "colours">;

export function useCanvas(
  picture: Picture,
  place: { left: number; top: number; bottom: number; height: number },
): {
  host: (element: HTMLDivElement | null) => void;
  canvas: RefObject<HTMLCanvasElement | null>;
  frame: Frame;
} {
  const scheme = useComputedColorScheme();
  const { ref, width } = useElementSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  useFonts();
  const { left, top, bottom, height } = place;
  const frame = { left, top, width: Math.max(width - 2 * left, 1), height };
  useEffect(() => {
    const drawn = canvas.current;
    if (!drawn || width === 0) return;
    const scene = { ...picture, frame, colours: coloursOf(scheme) };
    const request = requestAnimationFrame(() => paint(drawn, scene, width, top + height + bottom));
    return () => cancelAnimationFrame(request);
  });
  return { host: ref, canvas, frame };
}

/** Gives the canvas its size and the resolution of the screen, and clears it. */
export function sized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const fine = window.devicePixelRatio;
  const [across, down] = [Math.round(width * fine), Math.round(height * fine)];
  // Setting a size clears the canvas and costs a frame, even if the size is unchanged.
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(fine, 0, 0, fine, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

function paint(canvas: HTMLCanvasElement, scene: Scene, width: number, height: number): void {
  const context = sized(canvas, width, height);
  if (context) draw(context, scene);
}

export function coloursOf(scheme: "light" | "dark"): Colours {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: colour("--assay-ink"),
    ground: colour("--mantine-color-body"),
    grid: colour("--assay-grid"),
    waiting: colour("--assay-waiting"),
    bad: colour("--assay-bad"),
    late: colour("--assay-late"),
    mark: colour("--assay-mark"),
    stages: stageColours(scheme),
  };
}
