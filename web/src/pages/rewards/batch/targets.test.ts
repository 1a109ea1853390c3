import { expect, it } from "vitest";
import { targetsOf } from "./targets";

const answered = {
  first_arrival_at: "2026-03-01T12:00:00Z",
  earliest_end_ms: 900,
  tolerated_end_ms: 1900,
  estimated_end_ms: 4000,
};

it("come from the timeline if the batch has ended", () => {
  expect(targetsOf(answered, undefined)).toEqual({
    earliestMs: 900,
    toleratedMs: 1900,
    estimatedMs: 4000,
  });
});

it("come from the stream while the batch is live, as far as it has them", () => {
  const live = { earliest_end_at: "2026-03-01T12:00:03Z", due_at: "2026-03-01T12:00:04Z" };
  expect(targetsOf(answered, live)).toEqual({
    earliestMs: 3000,
    toleratedMs: 4000,
    estimatedMs: 4000,
  });
  expect(targetsOf({ ...answered, first_arrival_at: null }, live).earliestMs).toBe(900);
});
