import { describe, expect, it } from "vitest";
import { describeRequest } from "./columns";
import { pressKey, type ViewState } from "./keys";
import { inProgress, lastMs, rowsBy, type Timeline } from "./model";
import { lanes, ticks } from "./ticks";
import {
  centre,
  fullView,
  msOf,
  pan,
  resized,
  reveal,
  revealTime,
  rowAt,
  rowOf,
  showTime,
  xOf,
  yOf,
  zoom,
} from "./view";

const none = Number.NaN;
const timeline: Timeline = {
  size: 3,
  keys: ["a", "b", "c"],
  kinds: ["scored", "open", "error"],
  verdicts: ["success", null, "worker_lost"],
  rewards: [1, null, null],
  arrived: Float64Array.of(0, 5, 2),
  finished: Float64Array.of(20, none, 8),
  stages: [
    {
      name: "compile",
      pool: "cpu",
      queued: Float64Array.of(0, 5, 2),
      started: Float64Array.of(1, 6, 3),
      ended: Float64Array.of(10, 9, 8),
      attempts: [1, 1, 4],
    },
    {
      name: "run",
      pool: "gpu",
      queued: Float64Array.of(10, 9, none),
      started: Float64Array.of(11, none, none),
      ended: Float64Array.of(20, none, none),
      attempts: [1, null, null],
    },
  ],
  critical: 0,
  last: 0,
  endMs: 20,
};

describe("timeline rows", () => {
  it("are ordered by arrival, or by end with unfinished requests last", () => {
    expect([...rowsBy(timeline, "arrival")]).toEqual([0, 2, 1]);
    expect([...rowsBy(timeline, "end")]).toEqual([2, 0, 1]);
  });
  it("extend to the last line or to now", () => {
    const line = { atMs: 100, label: "T + D", tone: "late", dashed: false } as const;
    expect(lastMs(timeline, none, [])).toBeCloseTo(20.2);
    expect(lastMs(timeline, 50, [])).toBeCloseTo(50.5);
    expect(lastMs(timeline, 50, [line, { ...line, atMs: none }])).toBeCloseTo(101);
  });
});

it("describes a request in one line", () => {
  expect(describeRequest(timeline, 0)).toBe(
    "a · ended last · critical · scored 1, success · arrived 0 ms · " +
      "compile: waited 1 ms, ran 9 ms · run: waited 1 ms, ran 9 ms",
  );
  expect(describeRequest(timeline, 1)).toContain("in progress");
  expect(describeRequest(timeline, 1)).toContain("run: queued or running since 9 ms");
  expect(describeRequest(timeline, 2)).toContain("error, worker_lost");
  expect(describeRequest(timeline, 2)).toContain("4 attempts");
});

const extent = { toMs: 1000, rows: 2048 };
const frame = { left: 10, top: 40, width: 1000, height: 512 };

describe("the visible part", () => {
  it("converts positions to pixels and back", () => {
    const view = zoom(fullView(extent), extent, { time: 0.37, rows: 0.11 }, { ms: 300, row: 700 });
    expect(msOf(view, frame, xOf(view, frame, 345))).toBeCloseTo(345);
    expect(rowOf(view, frame, yOf(view, frame, 711))).toBeCloseTo(711);
  });
  it("keeps the point under the pointer fixed when zooming", () => {
    const before = fullView(extent);
    const after = zoom(before, extent, { time: 0.5, rows: 0.5 }, { ms: 250, row: 512 });
    expect(xOf(after, frame, 250)).toBeCloseTo(xOf(before, frame, 250));
    expect(yOf(after, frame, 512)).toBeCloseTo(yOf(before, frame, 512));
  });
  it("never leaves the extent, however far the user zooms or pans", () => {
    let view = fullView(extent);
    for (let step = 0; step < 200; step += 1) {
      view = zoom(view, extent, { time: 0.7, rows: 0.7 }, { ms: 990, row: 2040 });
      view = pan(view, extent, { ms: 500, rows: 500 });
      expect(view.fromMs).toBeGreaterThanOrEqual(0);
      expect(view.toMs).toBeLessThanOrEqual(extent.toMs + 1e-9);
      expect(view.topRow + view.rows).toBeLessThanOrEqual(extent.rows + 1e-9);
      expect(view.rows).toBeGreaterThanOrEqual(8);
    }
    expect(zoom(view, extent, { time: 1e9, rows: 1e9 }, { ms: 0, row: 0 })).toEqual(
      fullView(extent),
    );
  });
  it("scrolls as little as needed to show a row", () => {
    const view = { fromMs: 0, toMs: 1000, topRow: 100, rows: 50 };
    expect(reveal(view, extent, 120)).toEqual(view);
    expect(reveal(view, extent, 150).topRow).toBe(101);
    expect(reveal(view, extent, 99).topRow).toBe(99);
  });
  it("pans in time only if no part of a request is visible", () => {
    const view = { fromMs: 500, toMs: 600, topRow: 0, rows: 50 };
    expect(revealTime(view, extent, 0, 500)).toEqual(view);
    expect(revealTime(view, extent, 550, 560)).toEqual(view);
    expect(revealTime(view, extent, 700, 800)).toMatchObject({ fromMs: 690, toMs: 790 });
    expect(revealTime(view, extent, 0, 10)).toMatchObject({ fromMs: 0, toMs: 100 });
  });
  it("grows with the batch only if it was a full view", () => {
    const more = { toMs: 2000, rows: 4096 };
    expect(resized(fullView(extent), extent, more)).toEqual(fullView(more));
    const part = { fromMs: 0, toMs: 500, topRow: 0, rows: 100 };
    expect(resized(part, extent, more)).toEqual(part);
  });
});

describe("the pointer", () => {
  const view = fullView(extent);
  it.each([
    [{ x: 500, y: 40 }, 0],
    [{ x: 500, y: 551.9 }, 2047],
    [{ x: 500, y: 168 }, 512],
    [{ x: 500, y: 39 }, null],
    [{ x: 5, y: 100 }, null],
    [{ x: 500, y: 552 }, null],
  ])("at %o is over row %s", (at, row) => expect(rowAt(view, frame, extent.rows, at)).toBe(row));
  it("is over no row below the last row of a short batch", () => {
    const short = { fromMs: 0, toMs: 10, topRow: 0, rows: 8 };
    expect(rowAt(short, frame, 3, { x: 500, y: 500 })).toBe(null);
  });
});

describe("the axis", () => {
  it.each([
    [0, 1000, 6, [0, 200, 400, 600, 800, 1000]],
    [130, 950, 6, [200, 400, 600, 800]],
    [0, 90_000, 5, [0, 30_000, 60_000, 90_000]],
    [0, 0.5, 6, [0, 0.1, 0.2, 0.3, 0.4, 0.5]],
  ])("from %s to %s ms has round tick values", (from, to, most, places) => {
    const found = ticks(from, to, most);
    expect(found).toHaveLength(places.length);
    for (const [at, place] of places.entries()) expect(found[at]).toBeCloseTo(place);
  });
  it("never has more ticks than requested", () => {
    for (let to = 0.3; to < 1e11; to *= 1.9) {
      expect(ticks(0, to, 8).length).toBeLessThanOrEqual(8);
      expect(ticks(0, to, 8).length).toBeGreaterThan(1);
    }
  });
});

it("puts overlapping labels into different lanes", () => {
  const labels = [0, 20, 50, 200].map((x) => ({ x, width: 40 }));
  expect(lanes(labels, 5)).toEqual([0, 1, 0, 0]);
});

describe("keys", () => {
  const start = { view: fullView(extent), row: null };
  const pressed = (...keys: string[]) =>
    keys.reduce<ViewState>((state, key) => pressKey(key, state, extent) ?? state, start);
  it("select rows and stop at the first and the last", () => {
    expect(pressed("ArrowDown").row).toBe(0);
    expect(pressed("ArrowDown", "ArrowDown", "ArrowDown").row).toBe(2);
    expect(pressed("ArrowDown", "ArrowUp", "ArrowUp").row).toBe(0);
    expect(pressed("End", "ArrowDown").row).toBe(2047);
  });
  it("keep the selected row visible", () => {
    const state = pressed("+", "+", "+", "End", "PageUp", "ArrowUp");
    expect(state.row).toBeGreaterThanOrEqual(state.view.topRow);
    expect(state.row).toBeLessThan(state.view.topRow + state.view.rows);
  });
  it("zoom, pan in time and show everything again", () => {
    const closer = pressed("+", "ArrowRight");
    expect(closer.view.toMs - closer.view.fromMs).toBeCloseTo(600);
    expect(closer.view.fromMs).toBeCloseTo(260);
    expect(pressed("+", "+", "ArrowRight", "0").view).toEqual(fullView(extent));
  });
  it("without a function here are left to the page", () => {
    expect(pressKey("Tab", start, extent)).toBe(null);
  });
});

describe("the overview", () => {
  it("counts the requests in progress in each part of the time", () => {
    // Requests run from 0 to 20, from 5 until now, which is 12, and from 2 to 8.
    expect([...inProgress(timeline, 12, 20, 4)]).toEqual([2, 3, 2, 1]);
    expect([...inProgress(timeline, 12, 20, 1)]).toEqual([3]);
  });
  const extent = { toMs: 100, rows: 50 };
  it("shows a time range drawn in either direction, with the same rows", () => {
    const view = { fromMs: 0, toMs: 100, topRow: 10, rows: 20 };
    const shown = { fromMs: 30, toMs: 40, topRow: 10, rows: 20 };
    expect(showTime(view, extent, 30, 40)).toEqual(shown);
    expect(showTime(view, extent, 40, 30)).toEqual(shown);
    expect(showTime(view, extent, -20, 40)).toEqual({ ...shown, fromMs: 0, toMs: 40 });
  });
  it("moves the window to a moment, as far as the time goes", () => {
    const view = { fromMs: 0, toMs: 20, topRow: 0, rows: 50 };
    expect(centre(view, extent, 50)).toEqual({ ...view, fromMs: 40, toMs: 60 });
    expect(centre(view, extent, 99)).toEqual({ ...view, fromMs: 80, toMs: 100 });
  });
});
