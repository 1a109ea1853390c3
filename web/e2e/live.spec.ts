// All tabs of a browser share one live stream, even if the reading tab closes.

import type { BrowserContext, Page } from "@playwright/test";
import { announce, liarItems, submit } from "./batches";
import { guest, Host } from "./host";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let plugin: string;
test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  plugin = await host.publish(guest("liar"));
});
test.afterAll(() => host.stop());

/** The pages that read the stream now. */
function readers(context: BrowserContext): Set<Page> {
  const reading = new Set<Page>();
  context.on("request", (request) => {
    if (isStream(request.url())) reading.add(request.frame().page());
  });
  for (const over of ["requestfailed", "requestfinished"] as const) {
    context.on(over as "requestfailed", (request) => {
      if (isStream(request.url())) reading.delete(request.frame().page());
    });
  }
  const watch = (page: Page) => page.on("close", () => reading.delete(page));
  context.pages().forEach(watch);
  context.on("page", watch);
  return reading;
}

function isStream(url: string): boolean {
  return new URL(url).pathname === "/v1/live";
}

const expectStatus = (page: Page, word: string) =>
  expect(page.getByRole("banner").getByText(word, { exact: true })).toBeVisible();

test("seven tabs share one stream, and another tab takes it over", async ({ context, page }) => {
  const reading = readers(context);
  await enter(page, host);
  const tabs = [page];
  await open(page, host, "/", "Overview");
  while (tabs.length < 7) {
    const tab = await context.newPage();
    tabs.push(tab);
    await open(tab, host, "/", "Overview");
  }
  for (const tab of tabs) await expectStatus(tab, "live");
  expect(reading.size).toBe(1);
  expect([...reading]).toEqual([page]);

  const batch = await announce(host, { plugin, run: "seen-by-all", expected_size: 6 });
  await submit(host, batch, liarItems(0, ["two_stages", "two_stages"]));
  const row = (tab: Page) =>
    tab.getByRole("table", { name: "Live batches" }).getByRole("row", { name: /seen-by-all/ });
  for (const tab of tabs) await expect(row(tab)).toContainText("2 of 6");

  await page.close();
  await expect.poll(() => [...reading].filter((tab) => tab !== page).length).toBe(1);
  await submit(host, batch, liarItems(2, ["two_stages", "two_stages"]));
  for (const tab of tabs.slice(1)) await expect(row(tab)).toContainText("4 of 6");
  expect(reading.size).toBe(1);
  await submit(host, batch, liarItems(4, ["two_stages", "two_stages"]));
  for (const tab of tabs.slice(1)) await expect(row(tab)).toHaveCount(0);
});

test("a lost server is noticed, and its return too", async ({ context, page, browserErrors }) => {
  await enter(page, host);
  await open(page, host, "/", "Overview");
  const tab = await context.newPage();
  await open(tab, host, "/capacity", "Capacity");
  for (const one of [page, tab]) await expectStatus(one, "live");
  browserErrors.expectServerDown();
  await host.stopServer();
  for (const one of [page, tab]) await expectStatus(one, "reconnecting…");
  await expect(page.getByText(/Live numbers are .* old/)).toBeVisible();
  // The code of a page that was not opened yet comes when the server does, without a reload.
  await page.evaluate(() => Object.assign(window, { notReloaded: true }));
  await page.getByRole("link", { name: "Simulate", exact: true }).click();
  await host.restart();
  await expect(page.getByRole("heading", { level: 1, name: "Simulate" })).toBeVisible();
  expect(await page.evaluate(() => "notReloaded" in window)).toBe(true);
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  for (const one of [page, tab]) await expectStatus(one, "live");
  const batch = await announce(host, { plugin, run: "after", expected_size: 1 });
  await expect(page.getByRole("row", { name: /after/ })).toContainText("0 of 1");
  await submit(host, batch, liarItems(0, ["two_stages"]));
  // It goes from the live batches to the recent ones.
  const live = page.getByRole("region", { name: "Live batches" }).first();
  await expect(live.getByRole("row", { name: /after/ })).toHaveCount(0);
});
