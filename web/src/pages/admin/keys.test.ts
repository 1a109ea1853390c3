import { describe, expect, it } from "vitest";
import { expiry, listed, standing } from "./keys";
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

describe("a key's standing", () => {
  it.each([
    [{}, "works", undefined],
    [{ expires_at: "2026-06-01T00:00:00Z" }, "works", "until"],
    [{ expires_at: "2026-05-01T00:00:00Z" }, "expired", "since"],
    [{ previous_secret_until: "2026-05-01T00:00:01Z" }, "rotated", "old secret works until"],
    [{ previous_secret_until: "2026-04-30T00:00:00Z" }, "works", undefined],
    [
      { revoked_at: "2026-04-02T00:00:00Z", expires_at: "2026-04-03T00:00:00Z" },
      "revoked",
      "since",
    ],
  ])("with %o is %s", (more, word, what) => {
    const found = standing({ ...key, ...more }, NOW);
    expect([found.word, found.since?.what]).toEqual([word, what]);
  });
});

it("counts an expiry in days, and never as null", () => {
  expect(expiry(30, NOW)).toBe("2026-05-31T00:00:00.000Z");
  expect(expiry(0, NOW)).toBeNull();
});

it("reads a list of names however it is written", () => {
  expect(listed("math@prod, code  cuda,")).toEqual(["math@prod", "code", "cuda"]);
  expect(listed("  ")).toBeNull();
});
