// Follows a live batch, finds a failed request and its log, and explains a late batch.

import { readFileSync } from "node:fs";
import { announce, type Batch, liarItems, scoreBatch, submit } from "./batches";
import { guest, Host } from "./host";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let liar: string;
let load: string;
/** The batch of the first test, which later tests inspect. */
let watched: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  liar = await host.publish(guest("liar"));
  load = await host.publish(guest("worker_load"));
});
test.afterAll(() => host.stop());

test("a live batch is followed to its end without a reload", async ({ context, page }) => {
  await enter(page, host);
  await open(page, host, "/", "Overview");
  await expect(page.getByText("No live batches")).toBeVisible();
  await expect(page.getByRole("banner").getByText("live", { exact: true })).toBeVisible();

  const call = { plugin: liar, run: "liar-1", expected_size: 8, group_size: 2 };
  watched = await announce(host, call);
  const batches = page.getByRole("table", { name: "Live batches" });
  const row = batches.getByRole("row", { name: /liar-1/ });
  await expect(row).toContainText("announced");
  await expect(row).toContainText("0 of 8");

  const closer = await context.newPage();
  await open(closer, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  await expect(closer.getByText("No requests yet")).toBeVisible();
  await submit(host, watched, liarItems(0, ["two_stages", "two_stages", "panic", "two_stages"]));
  await expect(row).toContainText("4 of 8, 1 failed");
  await expect(closer.getByText("3 scored, 0 timed out, 1 failed")).toBeVisible();
  await expect(closer.getByRole("img", { name: "Timeline of 4 requests" })).toBeVisible();

  await submit(host, watched, liarItems(4, ["two_stages", "spin", "two_stages", "two_stages"]));
  await expect(closer.getByRole("img", { name: "Timeline of 8 requests" })).toBeVisible();
  await expect(closer.getByText("6 scored, 1 timed out, 1 failed")).toBeVisible();
  await expect(closer.getByText("done", { exact: true })).toBeVisible();
  await expect(closer.getByText("4 of 4 groups are complete.")).toBeVisible();
  await expect(row).toHaveCount(0);
  const incidents = page.getByRole("table", { name: "Recent incidents" });
  await expect(incidents.getByRole("row", { name: /requests failed/ })).toContainText("liar-1");
});

test("a live batch of which the stream does not tell is read again and again", async ({
  page,
  browserErrors,
}) => {
  browserErrors.expectServerDown();
  await enter(page, host);
  await page.route("**/v1/live", (route) => route.abort());
  await page.route(/\/v1\/overview/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), batches: [] } });
  });
  const quiet = await announce(host, { plugin: liar, run: "quiet", expected_size: 4 });
  await open(page, host, `/batches/${quiet.id}`, "quiet, iteration 0");
  await expect(page.getByText("No requests yet")).toBeVisible();
  await submit(host, quiet, liarItems(0, ["two_stages", "two_stages"]));
  await expect(page.getByText("2 scored, 0 timed out, 0 failed")).toBeVisible();
  await host.call("POST", `/v1/batches/${quiet.id}/cancel`);
});

test("the timeline is drawn again with a font that comes late", async ({ page }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\.woff2$/, async (route) => {
    await held;
    await route.continue();
  });
  await enter(page, host);
  await open(page, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  const timeline = page.getByRole("img", { name: "Timeline of 8 requests" });
  const drawn = () => timeline.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  await timeline.scrollIntoViewIfNeeded();
  let before = "";
  const rests = async () => {
    const last = before;
    before = await drawn();
    return before === last;
  };
  await expect.poll(rests).toBe(true);
  release();
  await expect.poll(drawn).not.toBe(before);
});

test("a filter finds a failed request and leads to its log", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/batches?run=liar-1", "Batches");
  await page
    .getByRole("table", { name: "Batches" })
    .getByRole("row", { name: /liar-1/ })
    .getByRole("link", { name: "0", exact: true })
    .click();
  const requests = page.getByRole("table", { name: "Requests of the batch" });
  await expect(requests.getByRole("row")).toHaveCount(9);
  await page.getByRole("combobox", { name: "Outcome" }).selectOption("error");
  await expect(page).toHaveURL(/kind=error/);
  await expect(requests.getByRole("row")).toHaveCount(2);
  await requests.getByRole("link", { name: "sample-2" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "Request sample-2" })).toBeVisible();
  await expect(page.getByText("No reward is recorded for errors")).toBeVisible();
  const logs = page.getByRole("table", { name: "Log lines" });
  await expect(logs).toContainText("the answer was not there");

  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await expect(page.getByText("Same result")).toBeVisible();
  // Back returns to the list with its filter.
  await page.goBack();
  await expect(requests.getByRole("row")).toHaveCount(2);
});

test("requests are read one after the other, and their group side by side", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  await page.getByRole("button", { name: "Read sample-0" }).click();
  const drawer = page.getByRole("dialog", { name: "Request sample-0" });
  await expect(drawer.getByRole("region", { name: /^Response, / })).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.getByRole("dialog", { name: "Request sample-1" })).toBeVisible();
  await expect(page).toHaveURL(/sample=1/);
  await page.keyboard.press("k");
  await expect(drawer).toBeVisible();
  await drawer.getByRole("button", { name: "Compare the group" }).click();
  const rollouts = page.getByRole("region", { name: "Rollouts of the group" });
  await expect(rollouts.getByText("advantage")).toHaveCount(2);
});

test("a list is exported with all its rows", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Export requests of ${watched.id}` }).click();
  await page.getByRole("menuitem", { name: "CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines).toHaveLength(9);
  expect(lines[0]).toContain("id,seq,key,group");
});

test("the copied command runs the request again", async ({ context, page }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await enter(page, host);
  await open(page, host, `/requests/${watched.id}.0`, "Request sample-0");
  await page.getByRole("button", { name: "Copy curl" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  expect(curl).toContain(`curl '${host.url}/v1/rewards'`);
  const body = /--data-raw '(.*)'$/s.exec(curl)?.[1] ?? "";
  const answer = await host.call<{ outcome: { kind: string } }>(
    "POST",
    "/v1/rewards",
    JSON.parse(body),
  );
  expect(answer.outcome.kind).toBe("scored");
});

test("artifacts can be downloaded", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/requests/${watched.id}.0`, "Request sample-0");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download prepare" }).click();
  const kept = readFileSync(await (await download).path());
  expect(kept.length).toBeGreaterThan(0);
});

test("a late batch shows the reason", async ({ page }) => {
  const items = Array.from({ length: 12 }, (_, at) => ({
    key: `slow-${at}`,
    prompt: "",
    // Number of rounds.
    response: "20000",
    label: "8",
  }));
  const call = { plugin: load, run: "late-1", max_extra_delay_ms: 1 };
  const late = await scoreBatch(host, call, items);
  await enter(page, host);
  await open(page, host, "/batches?late=true", "Batches");
  const row = page.getByRole("table", { name: "Batches" }).getByRole("row", { name: /late-1/ });
  await expect(row).toContainText("late");
  await open(page, host, `/batches/${late.id}`, "late-1, iteration 0");
  const why = page.getByRole("region", { name: "Why late?", exact: true });
  await expect(why).toContainText(/waited/);
  const critical = why.getByRole("link", { name: /critical/ });
  await critical.click();
  await expect(page.getByRole("heading", { level: 1, name: /Request slow-/ })).toBeVisible();
});

test("the timeline can be read by keys and as a table", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  const timeline = page.getByRole("application", { name: /^Timeline of 8 requests/ });
  const canvas = timeline.getByRole("img");
  const whole = await canvas.screenshot();
  await timeline.focus();
  await page.keyboard.press("+");
  await expect.poll(async () => whole.equals(await canvas.screenshot())).toBe(false);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").filter({ hasText: "sample-" })).toBeVisible();
  await page.keyboard.press("0");
  await page.keyboard.press("Home");
  await expect(page.getByRole("status").filter({ hasText: "sample-0" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").filter({ hasText: "sample-1" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Request sample-1" })).toBeVisible();

  await page.goBack();
  const figure = page.getByRole("region", { name: "Timeline", exact: true });
  await figure.getByRole("button", { name: "View as table" }).click();
  const table = page.getByRole("table", { name: "Timeline in numbers" });
  await expect(table.getByRole("row")).toHaveCount(9);
  await expect(table).toContainText("sample-7");
  await figure.getByRole("button", { name: "View as chart" }).click();
  await expect(canvas).toBeVisible();
  await page.getByLabel("Row order").selectOption("end");
  await expect(page).toHaveURL(/order=end/);
});

test("a drag in the overview chooses a time range, and the wheel zooms once it is focused", async ({
  page,
}) => {
  await enter(page, host);
  await open(page, host, `/batches/${watched.id}`, "liar-1, iteration 0");
  const timeline = page.getByRole("application", { name: /^Timeline of 8 requests/ });
  const canvas = timeline.getByRole("img");
  const looks = async () => (await canvas.screenshot()).toString("base64");
  const overview = page.getByTitle("Drag to choose a time range");
  await overview.scrollIntoViewIfNeeded();
  const whole = await looks();
  const box = await overview.boundingBox();
  if (!box) throw new Error("the overview has no place");
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.2, middle);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, middle);
  await page.mouse.up();
  await expect.poll(looks).not.toBe(whole);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.mouse.move(box.x, box.y - 300);
  await expect.poll(looks).toBe(whole);

  // Without the focus the wheel scrolls the page.
  await canvas.hover();
  const before = await page.evaluate(() => window.scrollY);
  await page.mouse.wheel(0, -100);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeLessThan(before);
  await timeline.focus();
  const focused = await looks();
  await canvas.hover();
  const still = await page.evaluate(() => window.scrollY);
  await page.mouse.wheel(0, -100);
  await expect.poll(looks).not.toBe(focused);
  expect(await page.evaluate(() => window.scrollY)).toBe(still);
});

test("a batch can be cancelled", async ({ page }) => {
  const batch = await announce(host, { plugin: liar, run: "never", expected_size: 5 });
  await enter(page, host);
  await open(page, host, `/batches/${batch.id}`, "never, iteration 0");
  await page.getByRole("button", { name: "Cancel batch" }).click();
  const asked = page.getByRole("dialog", { name: "Cancel batch" });
  await asked.getByRole("button", { name: "Cancel batch" }).click();
  await expect(asked).toBeHidden();
  await expect(page.getByText("cancelled", { exact: true })).toBeVisible();
});
