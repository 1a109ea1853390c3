import { expect, it } from "vitest";
import { boundsOf, localInput, rangeOf } from "./range";

const NOW = Date.parse("2026-03-01T12:00:00Z");

it("reads valid values and ignores others", () => {
  expect(rangeOf({ within: "7d", from: "2026-01-01" })).toEqual({
    within: "7d",
    from: "2026-01-01T00:00:00.000Z",
    to: undefined,
  });
  expect(rangeOf({ within: "9 weeks", from: "soon", to: 7 }).within).toBeUndefined();
  expect(rangeOf({ from: "soon" }).from).toBeUndefined();
});

it("is a period up to now, or lies between two times", () => {
  expect(boundsOf({ within: "24h" }, NOW)).toEqual({ from: "2026-02-28T12:00:00.000Z" });
  expect(boundsOf({ from: "2026-01-01T00:00:00.000Z" }, NOW)).toEqual({
    from: "2026-01-01T00:00:00.000Z",
  });
  expect(boundsOf({}, NOW)).toEqual({});
});

it("converts to the value of a local time input and back", () => {
  const at = "2026-03-01T12:34:00.000Z";
  expect(new Date(localInput(at)).toISOString()).toBe(at);
  expect(localInput(undefined)).toBe("");
});
