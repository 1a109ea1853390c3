import { expect, it } from "vitest";
import { standing } from "./due";

const BUSY = { state: "open", queued: 3, running: 1 } as const;
const NOW = Date.parse("2026-03-01T12:00:00Z");

it.each([
  [{}, null],
  [{ due_at: "2026-03-01T12:00:41.200Z" }, { words: "41 s", late: false }],
  [{ due_at: "2026-03-01T11:59:57Z" }, { words: "3 s late", late: true }],
  [
    { due_at: "2026-03-01T12:01:00Z", estimated_done_at: "2026-03-01T12:01:02Z" },
    { words: "1 min", note: "would end 2 s late", late: true },
  ],
  [
    { due_at: "2026-03-01T12:01:00Z", estimated_done_at: "2026-03-01T12:00:30Z" },
    { words: "1 min", late: false },
  ],
])("%o stands at %o", (batch, told) => expect(standing({ ...BUSY, ...batch }, NOW)).toEqual(told));

it("blames nobody for a batch that waits for its trainer", () => {
  const idle = { ...BUSY, queued: 0, running: 0, due_at: "2026-03-01T11:59:57Z" };
  expect(standing(idle, NOW)).toEqual({ words: "waits for requests", late: false });
  expect(standing({ ...idle, state: "sealed" }, NOW)?.late).toBe(true);
});
