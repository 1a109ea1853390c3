import { expect, it } from "vitest";
import { standing } from "./due";

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
])("%o stands at %o", (batch, told) => expect(standing(batch, NOW)).toEqual(told));
