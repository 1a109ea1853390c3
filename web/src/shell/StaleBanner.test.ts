import { expect, it } from "vitest";
import { staleText } from "./StaleBanner";

it("tells how old the numbers are", () => {
  const text = "The server does not respond. Live numbers are 12 s old. Reconnecting…";
  expect(staleText(1_000, 13_900)).toBe(text);
  expect(staleText(1_000, 900)).toContain("0 ms old");
});
