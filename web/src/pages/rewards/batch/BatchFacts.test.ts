import { expect, it } from "vitest";
import { offBy, toleranceText } from "./BatchFacts";

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
