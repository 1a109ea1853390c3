import { expect, it } from "vitest";
import { completion, verdictsOf } from "./fold";

it("computes the share that is complete at each time", () => {
  expect(completion([30, 10, null], [5, 10, 30, null])).toEqual({
    atMs: [0, 5, 10, 30],
    groups: [0, 0, 1 / 3, 2 / 3],
    requests: [0, 0.25, 0.5, 0.75],
  });
});

it("takes verdicts from the roll-up, or counts the listed requests", () => {
  expect(verdictsOf({ wrong: 2, success: 7 }, ["ignored"])).toEqual([
    { name: "success", count: 7 },
    { name: "wrong", count: 2 },
  ]);
  expect(verdictsOf(undefined, ["a", null, "b", "b"])).toEqual([
    { name: "b", count: 2 },
    { name: "a", count: 1 },
  ]);
});
