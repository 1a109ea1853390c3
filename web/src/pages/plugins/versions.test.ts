import { expect, it } from "vitest";
import type { Plugin } from "./queries";
import { byName, hasCases } from "./versions";

it("groups versions by name, with the channels that point to them", () => {
  const plugin = (name: string, version: string, ...channels: string[]): Plugin => ({
    name,
    version,
    channels,
    deterministic: true,
    digest: "d",
    published_at: "2026-01-01T00:00:00Z",
    stages: [],
    summary: "",
    timeout_reward: 0,
  });
  const folded = byName([
    plugin("math", "1.1.0", "next"),
    plugin("math", "1.0.0", "prod", "beta"),
    plugin("code", "2.0.0"),
  ]);
  expect(folded.map(({ name }) => name)).toEqual(["code", "math"]);
  expect(folded[1]?.versions.map(({ version }) => version)).toEqual(["1.1.0", "1.0.0"]);
  expect(folded[1]?.channels).toEqual([
    { channel: "beta", version: "1.0.0" },
    { channel: "next", version: "1.1.0" },
    { channel: "prod", version: "1.0.0" },
  ]);
});

it("knows which versions have golden cases", () => {
  const none = { passed: 0, not_run: 0, skipped: 0 };
  expect(hasCases(undefined)).toBe(false);
  expect(hasCases(none)).toBe(false);
  expect(hasCases({ ...none, skipped: 1 })).toBe(true);
});
