import { expect, it } from "vitest";
import { serverNow } from "./now";

it("counts from the server's time, whatever the clock of this computer says", () => {
  const at = "2026-03-01T12:00:00Z";
  const readAt = Date.parse("2026-03-01T11:47:00Z");
  expect(serverNow(at, readAt, readAt + 5_000)).toBe(Date.parse("2026-03-01T12:00:05Z"));
  // The countdown ticks once a second, so that an answer may be newer than the last tick.
  expect(serverNow(at, readAt, readAt - 700)).toBe(Date.parse(at));
});
