import { expect, it } from "vitest";
import { isMuted, mayAcknowledge } from "./acknowledgement";

it("leaves incidents of others to the platform's administrators", () => {
  const trainer = { scopes: ["batches:read" as const, "batches:write" as const], tenant: "ours" };
  const viewer = { scopes: ["batches:read" as const], tenant: "ours" };
  const platform = { scopes: [...trainer.scopes, "platform:*" as const], tenant: "platform" };
  expect(mayAcknowledge(trainer, { tenant: "ours" })).toBe(true);
  expect(mayAcknowledge(viewer, { tenant: "ours" })).toBe(false);
  expect(mayAcknowledge(trainer, { tenant: "theirs" })).toBe(false);
  expect(mayAcknowledge(trainer, {})).toBe(false);
  expect(mayAcknowledge(platform, {})).toBe(true);
});

it("is muted while the acknowledgement lies in the future", () => {
  const until = "2026-05-01T00:00:00Z";
  expect(isMuted({ until }, Date.parse(until) - 1)).toBe(true);
  expect(isMuted({ until }, Date.parse(until))).toBe(false);
});
