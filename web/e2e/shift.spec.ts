// Layout shift: nothing jumps under the pointer while live pages change.

import type { Page } from "@playwright/test";
import { announce, liarItems, submit } from "./batches";
import { guest, Host } from "./host";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

/** Web Vitals call up to 0.1 good. */
const SHIFT_MAX = 0.05;

let host: Host;
let plugin: string;
test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  plugin = await host.publish(guest("liar"));
});
test.afterAll(() => host.stop());

/**
 * Sums the shifts of the page from its first picture on, as Cumulative Layout Shift does: those with less than a second
 * between them and five seconds in all are one sum, and the largest counts. A sum without end would grow with the time
 * that the page is open, which is long on a busy machine.
 */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts = { largest: 0, of: [] as string[] };
    const sum = { value: 0, from: 0, until: Number.NEGATIVE_INFINITY };
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const {
          value,
          startTime,
          sources = [],
        } = entry as PerformanceEntry & {
          value: number;
          sources?: { node?: Node }[];
        };
        if (startTime - sum.until >= 1_000 || startTime - sum.from >= 5_000) {
          Object.assign(sum, { value: 0, from: startTime });
        }
        sum.until = startTime;
        sum.value += value;
        shifts.largest = Math.max(shifts.largest, sum.value);
        const names = sources.map(({ node }) => (node as Element)?.outerHTML?.slice(0, 120));
        shifts.of.push(`${value.toFixed(4)} at ${startTime.toFixed(0)} ms: ${names.join(" | ")}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

async function expectStill(page: Page): Promise<void> {
  const { largest, of } = await page.evaluate(
    () => (window as unknown as { shifts: { largest: number; of: string[] } }).shifts,
  );
  expect(largest, of.join("\n")).toBeLessThan(SHIFT_MAX);
}

/** Three iterations of two runs: announced, filled in two parts, ended, with failures among them. */
async function train(page: Page): Promise<void> {
  for (const iteration of [1, 2, 3]) {
    const batches = await Promise.all(
      ["first", "second"].map((run) =>
        announce(host, { plugin, run, iteration, expected_size: 4 }),
      ),
    );
    for (const from of [0, 2]) {
      await Promise.all(
        batches.map((batch) => submit(host, batch, liarItems(from, ["two_stages", "panic"]))),
      );
      // The page shows what was submitted before the next part comes.
      await page.evaluate(
        () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
      );
    }
    const name = new RegExp(`^(first|second) ${iteration}\\b`);
    const live = page.getByRole("table", { name: "Live batches" }).getByRole("row", { name });
    await expect(live).toHaveCount(0);
  }
}

test("the overview stands still while batches come and go", async ({ page }) => {
  await watchShifts(page);
  await enter(page, host);
  // The first batches end the onboarding page, which may move everything once.
  const before = await announce(host, { plugin, run: "before", expected_size: 2 });
  await submit(host, before, liarItems(0, ["two_stages", "panic"]));
  await open(page, host, "/", "Overview");
  await expect(page.getByRole("table", { name: "Recent batches" })).toBeVisible();
  await train(page);
  await expect(page.getByRole("row", { name: /second/ }).first()).toBeVisible();
  await expectStill(page);
});

test("lists and the page of a run stand still", async ({ page }) => {
  await watchShifts(page);
  await enter(page, host);
  await open(page, host, "/batches", "Batches");
  await expect(page.getByRole("table", { name: "Batches" })).toBeVisible();
  await train(page);
  const fresh = page.getByRole("button", { name: "Show 6 new batches" });
  await expect(fresh).toBeVisible();
  await expectStill(page);
  await fresh.click();
  await expect(fresh).toHaveCount(0);
  await expect(page.getByRole("row", { name: /^second 3/ }).first()).toBeVisible();
  await open(page, host, "/runs/first", "first");
  await expect(page.getByRole("table", { name: /^Iterations/ }).first()).toBeVisible();
  await train(page);
  await expectStill(page);
});
