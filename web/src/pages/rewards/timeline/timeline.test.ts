import { describe, expect, it } from "vitest";
import { inWords } from "./columns";
import { keyed, type Looking } from "./keys";
import { reach, rowsBy, type Timeline } from "./model";
import { lanes, ticks } from "./ticks";
import { grown, hit, msOf, pan, reveal, revealTime, rowOf, seeAll, xOf, yOf, zoom } from "./view";

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

describe("rows", () => {
  it("come by arrival, and by end with what goes on last", () => {
    expect([...rowsBy(timeline, "arrival")]).toEqual([0, 2, 1]);
    expect([...rowsBy(timeline, "end")]).toEqual([2, 0, 1]);
  });
  it("reach as far as the last line, or now", () => {
    const line = { atMs: 100, label: "T + D", tone: "late", dashed: false } as const;
    expect(reach(timeline, none, [])).toBeCloseTo(20.2);
    expect(reach(timeline, 50, [])).toBeCloseTo(50.5);
    expect(reach(timeline, 50, [line, { ...line, atMs: none }])).toBeCloseTo(101);
  });
});

it("tells a request in a line", () => {
  expect(inWords(timeline, 0)).toBe(
    "a · ended last · critical · scored 1, success · arrived 0 ms · " +
      "compile: waited 1 ms, ran 9 ms · run: waited 1 ms, ran 9 ms",
  );
  expect(inWords(timeline, 1)).toContain("under way");
  expect(inWords(timeline, 1)).toContain("run: waits or runs since 9 ms");
  expect(inWords(timeline, 2)).toContain("error, worker_lost");
  expect(inWords(timeline, 2)).toContain("4 attempts");
});

const whole = { toMs: 1000, rows: 2048 };
const frame = { left: 10, top: 40, width: 1000, height: 512 };

describe("what is seen", () => {
  it("goes there and back between places and pixels", () => {
    const view = zoom(seeAll(whole), whole, { time: 0.37, rows: 0.11 }, { ms: 300, row: 700 });
    expect(msOf(view, frame, xOf(view, frame, 345))).toBeCloseTo(345);
    expect(rowOf(view, frame, yOf(view, frame, 711))).toBeCloseTo(711);
  });
  it("keeps what is under the pointer where it is", () => {
    const before = seeAll(whole);
    const after = zoom(before, whole, { time: 0.5, rows: 0.5 }, { ms: 250, row: 512 });
    expect(xOf(after, frame, 250)).toBeCloseTo(xOf(before, frame, 250));
    expect(yOf(after, frame, 512)).toBeCloseTo(yOf(before, frame, 512));
  });
  it("never leaves the whole, however far one zooms or pans", () => {
    let view = seeAll(whole);
    for (let step = 0; step < 200; step += 1) {
      view = zoom(view, whole, { time: 0.7, rows: 0.7 }, { ms: 990, row: 2040 });
      view = pan(view, whole, { ms: 500, rows: 500 });
      expect(view.fromMs).toBeGreaterThanOrEqual(0);
      expect(view.toMs).toBeLessThanOrEqual(whole.toMs + 1e-9);
      expect(view.topRow + view.rows).toBeLessThanOrEqual(whole.rows + 1e-9);
      expect(view.rows).toBeGreaterThanOrEqual(8);
    }
    expect(zoom(view, whole, { time: 1e9, rows: 1e9 }, { ms: 0, row: 0 })).toEqual(seeAll(whole));
  });
  it("moves just far enough for a row", () => {
    const view = { fromMs: 0, toMs: 1000, topRow: 100, rows: 50 };
    expect(reveal(view, whole, 120)).toEqual(view);
    expect(reveal(view, whole, 150).topRow).toBe(101);
    expect(reveal(view, whole, 99).topRow).toBe(99);
  });
  it("moves in time only where nothing of a request is seen", () => {
    const view = { fromMs: 500, toMs: 600, topRow: 0, rows: 50 };
    expect(revealTime(view, whole, 0, 500)).toEqual(view);
    expect(revealTime(view, whole, 550, 560)).toEqual(view);
    expect(revealTime(view, whole, 700, 800)).toMatchObject({ fromMs: 690, toMs: 790 });
    expect(revealTime(view, whole, 0, 10)).toMatchObject({ fromMs: 0, toMs: 100 });
  });
  it("grows with the batch only where all was seen", () => {
    const more = { toMs: 2000, rows: 4096 };
    expect(grown(seeAll(whole), whole, more)).toEqual(seeAll(more));
    const part = { fromMs: 0, toMs: 500, topRow: 0, rows: 100 };
    expect(grown(part, whole, more)).toEqual(part);
  });
});

describe("the pointer", () => {
  const view = seeAll(whole);
  it.each([
    [{ x: 500, y: 40 }, 0],
    [{ x: 500, y: 551.9 }, 2047],
    [{ x: 500, y: 168 }, 512],
    [{ x: 500, y: 39 }, null],
    [{ x: 5, y: 100 }, null],
    [{ x: 500, y: 552 }, null],
  ])("at %o is over row %s", (at, row) => expect(hit(view, frame, whole.rows, at)).toBe(row));
  it("is over no row of a short batch below its last", () => {
    const short = { fromMs: 0, toMs: 10, topRow: 0, rows: 8 };
    expect(hit(short, frame, 3, { x: 500, y: 500 })).toBe(null);
  });
});

describe("the axis", () => {
  it.each([
    [0, 1000, 6, [0, 200, 400, 600, 800, 1000]],
    [130, 950, 6, [200, 400, 600, 800]],
    [0, 90_000, 5, [0, 30_000, 60_000, 90_000]],
    [0, 0.5, 6, [0, 0.1, 0.2, 0.3, 0.4, 0.5]],
  ])("from %s to %s ms has round places", (from, to, most, places) => {
    const found = ticks(from, to, most);
    expect(found).toHaveLength(places.length);
    for (const [at, place] of places.entries()) expect(found[at]).toBeCloseTo(place);
  });
  it("never has more places than asked for", () => {
    for (let to = 0.3; to < 1e11; to *= 1.9) {
      expect(ticks(0, to, 8).length).toBeLessThanOrEqual(8);
      expect(ticks(0, to, 8).length).toBeGreaterThan(1);
    }
  });
});

it("puts labels that would cover each other in another lane", () => {
  const labels = [0, 20, 50, 200].map((x) => ({ x, width: 40 }));
  expect(lanes(labels, 5)).toEqual([0, 1, 0, 0]);
});

describe("keys", () => {
  const start = { view: seeAll(whole), row: null };
  const pressed = (...keys: string[]) =>
    keys.reduce<Looking>((looking, key) => keyed(key, looking, whole) ?? looking, start);
  it("choose rows, and stop at the first and the last", () => {
    expect(pressed("ArrowDown").row).toBe(0);
    expect(pressed("ArrowDown", "ArrowDown", "ArrowDown").row).toBe(2);
    expect(pressed("ArrowDown", "ArrowUp", "ArrowUp").row).toBe(0);
    expect(pressed("End", "ArrowDown").row).toBe(2047);
  });
  it("keep the chosen row in sight", () => {
    const looking = pressed("+", "+", "+", "End", "PageUp", "ArrowUp");
    expect(looking.row).toBeGreaterThanOrEqual(looking.view.topRow);
    expect(looking.row).toBeLessThan(looking.view.topRow + looking.view.rows);
  });
  it("zoom and move in time, and show all again", () => {
    const closer = pressed("+", "ArrowRight");
    expect(closer.view.toMs - closer.view.fromMs).toBeCloseTo(600);
    expect(closer.view.fromMs).toBeCloseTo(260);
    expect(pressed("+", "+", "ArrowRight", "0").view).toEqual(seeAll(whole));
  });
  it("that mean nothing here are left to the page", () => {
    expect(keyed("Tab", start, whole)).toBe(null);
  });
});
