// Measures the dashboard on 1,000 batches of 2,048 requests: every page is usable within half a
// second, and the timeline of 2,048 requests in two stages moves smoothly. Run by `npm run e2e:fast`
// only, because filling the database takes minutes.

import type { Page } from "@playwright/test";
import { Host } from "./host";
import { bootstrap, enter } from "./people";
import { expect, test } from "./test";

/** Limit from the start of the navigation until the main content is visible. */
const WITHIN_MS = 500;
/** Visits per page, the first with an empty cache. The median counts. */
const VISITS = 3;
/** Duration of a frame at 60 Hz. */
const FRAME_MS = 1_000 / 60;
const MOVES = 100;

let host: Host;
let run: string;
let batch: string;
let version: string;

test.beforeAll(async () => {
  test.setTimeout(1_800_000);
  const seed = ["--batches", "1000", "--size", "2048"];
  host = await Host.start({ workers: "cpu=1", seed });
  await bootstrap(host);
  const runs = await host.call<{ items: { name: string; plugin: string; batches: number }[] }>(
    "GET",
    "/v1/runs?limit=50",
  );
  const longest = runs.items.reduce((one, two) => (two.batches > one.batches ? two : one));
  run = encodeURIComponent(longest.name);
  version = longest.plugin.replace("@", "/");
  const batches = await host.call<{ items: { batch: { id: string } }[] }>(
    "GET",
    `/v1/batches?run=${run}&limit=1`,
  );
  batch = batches.items[0]?.batch.id ?? "";
  const preparing = async () =>
    (await host.call<{ preparing: number }>("GET", `/v1/samples?batch=${batch}`)).preparing;
  await expect.poll(preparing, { timeout: 900_000 }).toBe(0);
});
test.afterAll(() => host.stop());

const table = (name: string | RegExp) => (page: Page) => page.getByRole("table", { name }).first();
const chart = (name: string | RegExp) => (page: Page) => page.getByRole("img", { name }).first();

test("every page within half a second", async ({ page }) => {
  test.setTimeout(300_000);
  const pages: [string, ReturnType<typeof table>][] = [
    ["/", (on) => on.getByText("No live batches")],
    ["/runs", table("Runs")],
    [`/runs/${run}`, chart(/^mean, .* by /)],
    ["/batches", table("Batches")],
    [`/batches?run=${run}`, table("Batches")],
    [`/batches/${batch}`, chart(/^Timeline of 2,048/)],
    [`/batches/${batch}?kind=error`, table("Requests of the batch")],
    [`/samples?batch=${batch}`, table("Samples")],
    [`/samples?batch=${batch}&sort=-response_chars&reward_min=0.1`, table("Samples")],
    [`/requests/${batch}.7`, (on) => on.getByRole("heading", { name: "Inputs" })],
    ["/plugins", table("Plugins")],
    [`/plugins/${version}`, table("Requests by verdict")],
    ["/capacity", (on) => on.getByRole("heading", { name: "Pool cpu" })],
    ["/workers", table("Workers")],
    ["/admin", chart(/^Cost of .* by day/)],
    ["/admin?tab=audit", table("Audit log")],
    ["/simulate", (on) => on.getByRole("combobox", { name: "Batch" })],
  ];
  await enter(page, host);
  const times: { page: string; first: number; median: number }[] = [];
  for (const [path, shown] of pages) {
    const visits: number[] = [];
    for (let visit = 0; visit < VISITS; visit += 1) visits.push(await visited(page, path, shown));
    const [first = Number.NaN] = visits;
    const median = visits.sort((one, two) => one - two)[Math.floor(VISITS / 2)] ?? Number.NaN;
    times.push({ page: path, first: Math.round(first), median: Math.round(median) });
  }
  console.table(times);
  expect(times.filter(({ median }) => median > WITHIN_MS)).toEqual([]);
});

/** Measures by the clock of the page, so that the time of the test itself does not count. */
async function visited(page: Page, path: string, shown: ReturnType<typeof table>): Promise<number> {
  await page.goto(host.url + path, { waitUntil: "commit" });
  await shown(page).waitFor();
  return page.evaluate(
    () =>
      new Promise<number>((painted) =>
        requestAnimationFrame(() => setTimeout(() => painted(performance.now()))),
      ),
  );
}

test("the timeline of 2,048 requests moves smoothly", async ({ page }) => {
  await enter(page, host);
  await page.goto(`${host.url}/batches/${batch}`);
  const timeline = page.getByRole("application", { name: /^Timeline of 2,048/ });
  const canvas = timeline.getByRole("img");
  await timeline.focus();
  for (let closer = 0; closer < 3; closer += 1) await page.keyboard.press("+");
  const before = await canvas.screenshot();
  await page.keyboard.press("ArrowRight");
  await expect.poll(async () => before.equals(await canvas.screenshot())).toBe(false);

  const browser = await page.context().newCDPSession(page);
  await browser.send("Performance.enable");
  const worked = async () => {
    const { metrics } = await browser.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const began = await worked();
  const frames = await timeline.evaluate(async (element, moves) => {
    const frame = () => new Promise<number>((next) => requestAnimationFrame(next));
    const took: number[] = [];
    for (let move = 0, last = await frame(); move < moves; move += 1) {
      const key = move % 20 < 10 ? "ArrowRight" : "ArrowLeft";
      element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const now = await frame();
      took.push(now - last);
      last = now;
    }
    return took.sort((one, two) => one - two);
  }, MOVES);
  const work = ((await worked()) - began) / MOVES;
  const slow = frames[Math.floor(0.95 * MOVES)] ?? Number.NaN;
  console.table([{ what: "a move of the timeline, in ms", work, slowFrame: slow }]);
  expect(work, "work of the main thread per move").toBeLessThan(FRAME_MS);
  expect(slow, "time between two frames").toBeLessThan(2 * FRAME_MS);
});
