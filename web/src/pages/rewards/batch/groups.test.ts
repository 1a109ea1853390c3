import { expect, it } from "vitest";
import type { Schemas } from "../../../api/client";
import { Groups } from "./Groups";
import { advantages, advantagesOf, equalGroups } from "./groups";

it("measures rewards in standard deviations from the mean of the group", () => {
  expect(advantages([1, 0, 0, 1])).toEqual([1, -1, -1, 1]);
  expect(advantages([1, null, 0])).toEqual([1, null, -1]);
  expect(advantages([1, 1])).toEqual([0, 0]);
  expect(advantages([null])).toEqual([null]);
});

it("takes the server's advantages, and computes none of a part of a group", () => {
  const known = [{ reward: 1, advantage: 2 }, { reward: 0 }];
  expect(advantagesOf(known, true)).toEqual([2, null]);
  expect(advantagesOf(known, false)).toEqual([2, null]);
  expect(advantagesOf([{ reward: 1 }, { reward: 0 }], false)).toEqual([1, -1]);
  expect(advantagesOf([{ reward: 1 }, { reward: 0 }], true)).toEqual([null, null]);
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

it("shows no completion of groups of which only a sample is known", () => {
  const groups = { name: ["a"], requests: [1], finished: [1], completed_ms: [3] };
  const requests = { finished_ms: [3] } as Schemas["Timeline"]["requests"];
  const timeline = (thinned: boolean) => ({ thinned, groups, requests }) as Schemas["Timeline"];
  expect(Groups({ timeline: timeline(false) })).not.toBeNull();
  expect(Groups({ timeline: timeline(true) })).toBeNull();
});
