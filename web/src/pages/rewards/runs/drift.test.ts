import { expect, it } from "vitest";
import {
  BASELINE_DEFAULT,
  baselineOf,
  baselineText,
  componentSeries,
  driftOf,
  passSeries,
  promotionMarks,
} from "./drift";

const counts = (scored: number) => ({
  submitted: scored,
  scored,
  timed_out: 0,
  error: 0,
  shared: 0,
});

it("measures the distance from the first iterations", () => {
  const drift = driftOf(
    {
      iteration: [0, 1, 2, 3, 4],
      verdicts: [{ right: 1, wrong: 3 }, {}, { right: 3, wrong: 1 }, { right: 8 }, { other: 4 }],
      mean: [0.25, null, 0.75, 1, null],
      counts: [counts(4), counts(0), counts(4), counts(8), counts(0)],
    },
    { first: 2 },
  );
  // The baseline is the first and the third iteration: half of each verdict, and a mean of 0.5.
  expect(drift.verdicts).toEqual([0.25, null, 0.25, 0.5, 1]);
  expect(drift.reward).toEqual([-0.25, null, 0.25, 0.5, null]);
});

it("has no drift without verdicts", () => {
  const none = driftOf(
    { iteration: [0], verdicts: [{}], mean: [null], counts: [counts(0)] },
    { first: 10 },
  );
  expect(none).toEqual({ verdicts: [null], reward: [null] });
});

it("measures the distance from chosen iterations", () => {
  const drift = driftOf(
    {
      iteration: [7, 8, 9],
      verdicts: [{ right: 4 }, { right: 3, wrong: 1 }, { wrong: 4 }],
      mean: [1, 0.75, 0],
      counts: [counts(4), counts(4), counts(4)],
    },
    { from: 8, to: 8 },
  );
  expect(drift.verdicts).toEqual([0.25, 0, 0.75]);
  expect(drift.reward).toEqual([0.25, 0, -0.75]);
});

it("reads and writes a baseline", () => {
  expect(baselineOf("20-29")).toEqual({ from: 20, to: 29 });
  expect(baselineText({ from: 20, to: 29 })).toBe("20-29");
  expect([baselineOf("20"), baselineText({ first: 20 })]).toEqual([{ first: 20 }, 20]);
  expect(baselineText(BASELINE_DEFAULT)).toBe(undefined);
  for (const wrong of [undefined, "", "7", "x", "1-", "-1", "1-2-3"]) {
    expect(baselineOf(wrong)).toBe(undefined);
  }
});

it("marks a promotion before the next batch", () => {
  const promotion = (at: string, version: string) => ({
    at: `2026-01-01T0${at}:00:00Z`,
    channel: "prod",
    version,
    rollback: false,
  });
  const announced = ["2026-01-01T01:00:00Z", "2026-01-01T03:00:00Z"];
  const marks = promotionMarks(announced, [
    promotion("0", "0.1.0"),
    promotion("2", "0.2.0"),
    promotion("4", "0.3.0"),
  ]);
  expect(marks.map(({ at, label }) => [at, label])).toEqual([
    [0, "prod 0.1.0"],
    [0.5, "prod 0.2.0"],
  ]);
});

it("orders pass@k by k, and components by name", () => {
  expect(passSeries([{ "16": 1, "2": 0.5 }, {}])).toEqual([
    { label: "pass@2", values: [0.5, null] },
    { label: "pass@16", values: [1, null] },
  ]);
  expect(componentSeries([{ b: 1 }, { a: 0.5, c: 2 }], 2)).toEqual([
    { label: "a", values: [null, 0.5] },
    { label: "b", values: [1, null] },
  ]);
});
