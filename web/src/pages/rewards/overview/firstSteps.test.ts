import { expect, it } from "vitest";
import { firstPlugin, whoHelps } from "./firstSteps";

const plugin = (name: string, channels: string[], yanked: string | null = null) => ({
  name,
  version: "1.0.0",
  channels,
  yanked,
});

it("names a plugin that the tenant has", () => {
  expect(firstPlugin([])).toBeUndefined();
  expect(firstPlugin([plugin("math", [])])).toBe("math@1.0.0");
  expect(firstPlugin([plugin("code", ["canary"]), plugin("math", ["prod"])])).toBe("math@prod");
  expect(firstPlugin([plugin("code", ["canary"])])).toBe("code@canary");
  expect(firstPlugin([plugin("old", ["prod"], "wrong")])).toBeUndefined();
});

it("knows who makes keys of the tenant", () => {
  const trainer = whoHelps(["batches:read", "batches:write"]);
  expect(trainer).toEqual({ publishes: false, makesKeys: false, submits: true });
  expect(whoHelps(["admin:*"]).makesKeys).toBe(true);
});
