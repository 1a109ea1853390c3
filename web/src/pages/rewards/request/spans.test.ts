import { expect, it } from "vitest";
import { between, piecesOf } from "./spans";

it("knows microseconds, over seconds and minutes", () => {
  expect(between("2026-01-01T00:00:00.999900Z", "2026-01-01T00:00:01.000150Z")).toBeCloseTo(0.25);
  expect(between("2026-01-01T00:00:59Z", "2026-01-01T00:01:00.5Z")).toBeCloseTo(1500);
  expect(between("2026-01-01T00:00:01Z", "2026-01-01T00:00:00.25Z")).toBeCloseTo(-750);
});

it("lays stages end to end on the request's own time", () => {
  const span = { pool: "cpu", timeout_ms: 1000, attempts: 1 };
  const at = (ms: number) => `2026-01-01T00:00:00.${String(ms).padStart(3, "0")}Z`;
  const pieces = piecesOf(at(0), [
    { ...span, stage: "compile", queued_at: at(0), started_at: at(100), ended_at: at(200) },
    { ...span, stage: "run", queued_at: at(200), started_at: at(300), ended_at: at(400) },
  ]);
  expect(pieces.map((piece) => [piece.waitedMs, piece.ranMs])).toEqual([
    [100, 100],
    [100, 100],
  ]);
  expect(pieces[1]).toMatchObject({ queuedAt: 0.5, startedAt: 0.75, endedAt: 1 });
  expect(piecesOf(at(0), [])).toEqual([]);
});
