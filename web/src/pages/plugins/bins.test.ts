import { expect, it } from "vitest";
import { positionOf, visibleBins } from "./bins";

const EDGES = [1, 2, 4, 8, 16, 32];

it("positions a time within its bin", () => {
  expect([0, 0.5, 1, 3, 16, 31.9].map((ms) => Math.floor(positionOf(EDGES, ms)))).toEqual([
    0, 0, 1, 2, 5, 5,
  ]);
  expect(positionOf(EDGES, 3)).toBe(2.5);
  expect(positionOf(EDGES, 1_000)).toBe(6);
});

it("shows filled bins and the timeout, with an empty bin on each side", () => {
  expect(visibleBins(EDGES, [0, 0, 5, 9, 0, 0], 3)).toEqual({ from: 1, counts: [0, 5, 9, 0] });
  expect(visibleBins(EDGES, [0, 0, 5, 0, 0, 0], 1_000)).toEqual({
    from: 1,
    counts: [0, 5, 0, 0, 0],
  });
  expect(visibleBins(EDGES, [0, 0, 0, 0, 0, 0], 3)).toEqual({ from: 1, counts: [0, 0, 0] });
});
