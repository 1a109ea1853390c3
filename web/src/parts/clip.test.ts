import { expect, it } from "vitest";
import { clippedSpans } from "./clip";

it("finds where values are above the chart, and how high they go", () => {
  const demand = [1, 9, 12, 2, 3, null, 8];
  const busy = [1, 2, 2, 2, 11, 1, 1];
  expect(clippedSpans([demand, busy], 7)).toEqual([
    { from: 1, to: 3, peak: 12 },
    { from: 4, to: 5, peak: 11 },
    { from: 6, to: 6, peak: 8 },
  ]);
  expect(clippedSpans([demand, busy], 12)).toEqual([]);
  expect(clippedSpans([], 1)).toEqual([]);
  expect(clippedSpans([[null, null]], 1)).toEqual([]);
});
