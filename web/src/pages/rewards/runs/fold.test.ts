import { describe, expect, it } from "vitest";
import { aligned, heatMapOf, lastChange, spreadOf, stacked } from "./fold";

it("has a spread where mean and standard deviation are known", () => {
  const known = { mean: [1, null, 2], std: [0.5, null, null] };
  const wide = { min: [0, null, 0], max: [2, null, 2] };
  expect(spreadOf({ ...known, ...wide })).toEqual({
    upper: [1.5, null, null],
    lower: [0.5, null, null],
  });
  // A deviation to both sides may reach beyond all rewards.
  const narrow = { min: [0.75, null, 0], max: [1, null, 2] };
  expect(spreadOf({ ...known, ...narrow })).toEqual({
    upper: [1, null, null],
    lower: [0.75, null, null],
  });
});

describe("stacked", () => {
  const columns: Record<string, number>[] = [
    { success: 3, wrong: 1 },
    {},
    { wrong: 2, trap: 1, odd: 1 },
  ];
  it("orders by frequency and leaves gaps where data is missing", () => {
    expect(stacked(columns, 8, "numbers")).toEqual([
      { label: "success", values: [3, null, 0] },
      { label: "wrong", values: [1, null, 2] },
      { label: "odd", values: [0, null, 1] },
      { label: "trap", values: [0, null, 1] },
    ]);
  });
  it("sums rare names as other, without losses", () => {
    const shares = stacked(columns, 3, "shares");
    expect(shares.map(({ label }) => label)).toEqual(["success", "wrong", "other"]);
    for (const at of [0, 2]) {
      expect(shares.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)).toBeCloseTo(1);
    }
    expect(shares[2]?.values).toEqual([0, null, 0.5]);
  });
  it("keeps an existing name other", () => {
    const all = stacked([{ success: 1, other: 9 }], 8, "numbers");
    expect(all).toEqual([
      { label: "success", values: [1] },
      { label: "other", values: [9] },
    ]);
  });
});

describe("a heat map", () => {
  it("rebins histograms of different ranges", () => {
    const heat = heatMapOf(
      [
        { from: 0, to: 1, counts: [2, 0, 0, 2] },
        null,
        { from: -1, to: 1, counts: [4, 0] },
        { from: 1, to: 1, counts: [5] },
      ],
      4,
    );
    expect(heat).toMatchObject({ from: -1, to: 1, bins: 4 });
    expect(heat?.columns).toEqual([[0, 0, 0.5, 0.5], null, [0.5, 0.5, 0, 0], [0, 0, 0, 1]]);
  });
  it("is null without histograms", () => expect(heatMapOf([null, null], 20)).toBe(null));
});

it("aligns arrival curves at the points in time of all of them", () => {
  const curve = (at_ms: number[], share: number[]) => ({ batch: "b", iteration: 1, at_ms, share });
  expect(aligned([curve([0, 10], [0.1, 1]), curve([0, 20], [0.5, 1])])).toEqual({
    atMs: [0, 10, 20],
    shares: [
      [0.1, 1, 1],
      [0.5, 0.75, 1],
    ],
  });
});

it("compares the last two ended iterations, not a mean that still changes", () => {
  const at = "2026-01-01T00:00:00Z";
  const mean = [0.25, null, 0.5, 0.125];
  expect(lastChange({ mean, ended_at: [at, at, at, null] })).toBe(0.25);
  expect(lastChange({ mean, ended_at: [at, at, null, null] })).toBeUndefined();
  expect(lastChange({ mean: [], ended_at: [] })).toBeUndefined();
});
