import { expect, it } from "vitest";
import { toleranceText } from "./BatchFacts";

it("names the tolerance in force, and where it comes from", () => {
  expect(toleranceText({ max_extra_delay_ms: 1_000, tolerance_ms: 1_000 })).toBe(
    "1 s delay tolerance",
  );
  expect(toleranceText({ max_extra_delay_ms: null, tolerance_ms: 2_000 })).toBe(
    "2 s delay tolerance (default)",
  );
});
