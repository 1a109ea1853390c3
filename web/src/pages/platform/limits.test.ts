import { expect, it } from "vitest";
import { limitProblems } from "./limits";

it("finds the field with the problem", () => {
  expect(limitProblems(1, 3)).toEqual({});
  expect(limitProblems(9, 3)).toEqual({ min: "At most the max workers (3)." });
  expect(limitProblems(0, 5000)).toEqual({ max: "At most 1024." });
  expect(limitProblems("", "")).toEqual({ min: "Enter a number.", max: "Enter a number." });
});
