// Vertical lines in a chart, each with a text: where something happened.

import type uPlot from "uplot";

export interface Mark {
  /** Place on the x axis. */
  at: number;
  label: string;
}

/** Marks at one place become one, with all their texts. */
export function gathered(marks: readonly Mark[]): Mark[] {
  const places = new Map<number, string[]>();
  for (const { at, label } of marks) places.set(at, [...(places.get(at) ?? []), label]);
  return [...places]
    .map(([at, labels]) => ({ at, label: labels.join(", ") }))
    .sort((one, two) => one.at - two.at);
}

const GAP = 4;

/** Draws the marks over a chart. A text that would lie on the one before is left out. */
export function drawMarks(chart: uPlot, marks: readonly Mark[]) {
  if (marks.length === 0) return;
  const { ctx, bbox } = chart;
  const px = devicePixelRatio;
  const style = getComputedStyle(document.documentElement);
  ctx.save();
  ctx.strokeStyle = style.getPropertyValue("--assay-ink").trim();
  ctx.fillStyle = ctx.strokeStyle;
  ctx.lineWidth = px;
  ctx.setLineDash([2 * px, 3 * px]);
  ctx.font = `${11 * px}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = "bottom";
  let textFrom = Number.NEGATIVE_INFINITY;
  for (const { at, label } of gathered(marks)) {
    const left = chart.valToPos(at, "x", true);
    if (left < bbox.left - px || left > bbox.left + bbox.width + px) continue;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const width = ctx.measureText(label).width;
    const text = Math.min(left + GAP * px, bbox.left + bbox.width - width);
    if (text < textFrom || text < bbox.left) continue;
    ctx.fillText(label, text, bbox.top + bbox.height - GAP * px);
    textFrom = text + width + GAP * px;
  }
  ctx.restore();
}
