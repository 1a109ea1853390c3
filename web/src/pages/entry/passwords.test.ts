import { expect, it } from "vitest";
import { passwordProblem } from "./passwords";

it("counts characters, not bytes or code units", () => {
  expect(passwordProblem("eleven char")).toBe("Use at least 12 characters.");
  expect(passwordProblem("\ud83d\ude80".repeat(11))).toBe("Use at least 12 characters.");
  expect(passwordProblem("twelve chars")).toBeUndefined();
  expect(passwordProblem("\u00e4".repeat(600))).toBe("Use a shorter password.");
});
