import { describe, expect, it } from "vitest";
import { expiry, keyStatus, namesIn, personalScopes } from "./keys";
import type { Key } from "./queries";

const NOW = Date.parse("2026-05-01T00:00:00Z");
const key: Key = {
  id: "1",
  name: "trainer",
  prefix: "abc",
  tenant: "demo",
  scopes: ["batches:write"],
  created_at: "2026-04-01T00:00:00Z",
};

describe("the status of a key", () => {
  it.each([
    [{}, "active", undefined],
    [{ expires_at: "2026-06-01T00:00:00Z" }, "active", "expires"],
    [{ expires_at: "2026-05-01T00:00:00Z" }, "expired", "since"],
    [{ previous_secret_until: "2026-05-01T00:00:01Z" }, "rotated", "old secret works until"],
    [{ previous_secret_until: "2026-04-30T00:00:00Z" }, "active", undefined],
    [
      { revoked_at: "2026-04-02T00:00:00Z", expires_at: "2026-04-03T00:00:00Z" },
      "revoked",
      "since",
    ],
  ])("with %o is %s", (more, label, what) => {
    const found = keyStatus({ ...key, ...more }, NOW);
    expect([found.label, found.date?.label]).toEqual([label, what]);
  });
});

it("computes the expiry from days, and null for never", () => {
  expect(expiry(30, NOW)).toBe("2026-05-31T00:00:00.000Z");
  expect(expiry(0, NOW)).toBeNull();
});

it("splits names at commas and spaces", () => {
  expect(namesIn("math@prod, code  cuda,")).toEqual(["math@prod", "code", "cuda"]);
  expect(namesIn("  ")).toBeNull();
});

it("offers no scopes of administration for a personal key", () => {
  expect(personalScopes(["batches:read", "admin:*", "platform:*"])).toEqual(["batches:read"]);
});
