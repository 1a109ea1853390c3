import { expect, it } from "vitest";
import { deadlineStatus } from "./due";

const BUSY = { state: "open", queued: 3, running: 1 } as const;
const NOW = Date.parse("2026-03-01T12:00:00Z");

it.each([
  [{}, null],
  [{ due_at: "2026-03-01T12:00:41.200Z" }, { text: "41 s", late: false }],
  [{ due_at: "2026-03-01T11:59:57Z" }, { text: "3 s late", late: true }],
  [
    { due_at: "2026-03-01T12:01:00Z", estimated_done_at: "2026-03-01T12:01:02Z" },
    { text: "1 min", note: "expected 2 s late", late: true },
  ],
  [
    { due_at: "2026-03-01T12:01:00Z", estimated_done_at: "2026-03-01T12:00:30Z" },
    { text: "1 min", late: false },
  ],
])("the status of %o is %o", (batch, status) =>
  expect(deadlineStatus({ ...BUSY, ...batch }, NOW)).toEqual(status),
);

it("does not call a batch late that waits for its trainer", () => {
  const idle = { ...BUSY, queued: 0, running: 0, due_at: "2026-03-01T11:59:57Z" };
  expect(deadlineStatus(idle, NOW)).toEqual({ text: "waiting for requests", late: false });
  expect(deadlineStatus({ ...idle, state: "sealed" }, NOW)?.late).toBe(true);
});

it("says for how long a trainer has been silent", () => {
  const idle = { ...BUSY, queued: 0, running: 0 };
  const since = (minutes: number) => new Date(NOW - minutes * 60_000 - 5_000).toISOString();
  const soon = deadlineStatus({ ...idle, last_request_at: since(4) }, NOW);
  expect(soon).toEqual({ text: "waiting for requests", late: false });
  const late = deadlineStatus({ ...idle, last_request_at: since(9) }, NOW);
  expect(late).toEqual({ text: "no request for 9 min", late: false, silent: true });
});
