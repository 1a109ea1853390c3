import { expect, it } from "vitest";
import type { Schemas } from "../../../api/client";
import { forecast, offBy, sizeOf, toleranceText } from "./BatchFacts";

it("names the tolerance in force, and where it comes from", () => {
  expect(toleranceText({ max_extra_delay_ms: 1_000, tolerance_ms: 1_000 })).toBe(
    "1 s delay tolerance",
  );
  expect(toleranceText({ max_extra_delay_ms: null, tolerance_ms: 2_000 })).toBe(
    "2 s delay tolerance (default)",
  );
});

it("says how far an expected end was off", () => {
  expect(offBy(9_000, 10_000)).toBe("1 s too early");
  expect(offBy(10_400, 10_000)).toBe("400 ms too late");
  expect(offBy(10_009, 10_000)).toBe("as it came");
});

it("compares what was expected half-way with what came", () => {
  const expected = { earliest_end_at: "2026-11-27T10:00:09Z", done_at: "2026-11-27T10:00:14Z" };
  const ended = {
    rollup: { expected } as Schemas["Rollup"],
    first_arrival_at: "2026-11-27T10:00:00Z",
    ended_ms: 12_000,
    earliest_end_ms: 9_000,
  };
  const [fact] = forecast(ended);
  expect(fact?.label).toBe("Expected half-way");
  expect(fact?.value).toBe("14 s");
  expect(fact?.note).toBe("2 s too late; ideal end 9 s, as it came");
  // A live batch has none, nor one that ended before half of it was known.
  expect(forecast({ ...ended, ended_ms: null })).toEqual([]);
  expect(forecast({ ...ended, rollup: {} as Schemas["Rollup"] })).toEqual([]);
});

it("counts the requests that are still to come as the trainer last said", () => {
  const counts = { submitted: 12 } as Schemas["Counts"];
  expect(sizeOf({ counts, outstanding: null, expected_size: null })).toBe(12);
  expect(sizeOf({ counts, outstanding: null, expected_size: 64 })).toBe(64);
  expect(sizeOf({ counts, outstanding: 3, expected_size: 64 })).toBe(15);
  expect(sizeOf({ counts, outstanding: 0, expected_size: 64 })).toBe(12);
});
