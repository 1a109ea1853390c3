import { expect, it } from "vitest";
import { between, stageSpansOf } from "./spans";

it("computes microseconds across seconds and minutes", () => {
  expect(between("2026-01-01T00:00:00.999900Z", "2026-01-01T00:00:01.000150Z")).toBeCloseTo(0.25);
  expect(between("2026-01-01T00:00:59Z", "2026-01-01T00:01:00.5Z")).toBeCloseTo(1500);
  expect(between("2026-01-01T00:00:01Z", "2026-01-01T00:00:00.25Z")).toBeCloseTo(-750);
});

it("positions the stages on the time line of the request", () => {
  const span = { pool: "cpu", timeout_ms: 1000, attempts: 1 };
  const at = (ms: number) => `2026-01-01T00:00:00.${String(ms).padStart(3, "0")}Z`;
  const stageSpans = stageSpansOf(at(0), [
    { ...span, stage: "compile", queued_at: at(0), started_at: at(100), ended_at: at(200) },
    { ...span, stage: "run", queued_at: at(200), started_at: at(300), ended_at: at(400) },
  ]);
  expect(stageSpans.map((stageSpan) => [stageSpan.waitedMs, stageSpan.ranMs])).toEqual([
    [100, 100],
    [100, 100],
  ]);
  expect(stageSpans[1]).toMatchObject({ queuedAt: 0.5, startedAt: 0.75, endedAt: 1 });
  expect(stageSpansOf(at(0), [])).toEqual([]);
});
