import { describe, expect, it } from "vitest";
import { ago, bytes, cost, NONE, percent, reward, span } from "./format";

describe("durations", () => {
  it.each([
    [0.84, "0.8 ms"],
    [340.4, "340 ms"],
    [2_412, "2.41 s"],
    [185_000, "3 min 5 s"],
    [7_440_000, "2 h 4 min"],
    [180_000, "3 min"],
    [-1_500, "−1.5 s"],
    [null, NONE],
  ])("%s ms is %s", (ms, text) => expect(span(ms)).toBe(text));
});

it("shows a dash for missing values, never zero", () => {
  expect([reward(null), percent(undefined), bytes(null), ago(null)]).toEqual([
    NONE,
    NONE,
    NONE,
    NONE,
  ]);
  expect(reward(0)).toBe("0");
});

it("distinguishes past and future times", () => {
  const now = Date.parse("2026-01-01T00:01:00Z");
  expect(ago("2026-01-01T00:00:48Z", now)).toBe("12 s ago");
  expect(ago("2026-01-01T00:04:00Z", now)).toBe("in 3 min");
});

it.each([
  [123456.78, "123,456.78"],
  [1234.5, "1,234.5"],
  [20, "20"],
  [0.000123456, "0.0001235"],
  [0, "0"],
])("the cost %s is %s", (value, text) => expect(cost(value)).toBe(text));
