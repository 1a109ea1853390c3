import { expect, it } from "vitest";
import { advantages, equalGroups } from "./groups";

it("measures rewards in standard deviations from the mean of the group", () => {
  expect(advantages([1, 0, 0, 1])).toEqual([1, -1, -1, 1]);
  expect(advantages([1, null, 0])).toEqual([1, null, -1]);
  expect(advantages([1, 1])).toEqual([0, 0]);
  expect(advantages([null])).toEqual([null]);
});

it("splits complete groups of equal rewards into right and wrong", () => {
  const groups = {
    name: ["right", "wrong", "mixed", "open", "failed", "alone"],
    completed_ms: [1, 2, 3, null, 5, 6],
    requests: [2, 2, 2, 2, 2, 1],
    finished: [2, 2, 2, 1, 2, 1],
  };
  const group = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5];
  const reward = [1, 1, 0, 0, 1, 0, 1, null, null, 1, 1];
  const requests = { group, reward } as never;
  expect(equalGroups({ groups, requests })).toEqual({ right: ["right"], wrong: ["wrong"] });
});
