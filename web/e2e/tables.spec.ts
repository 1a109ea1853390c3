// Tables sort by column, keep the order in the URL, and show long lists in part.

import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { expectAccessible } from "./look";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let small: Batch;
let large: Batch;

const items = (requests: number) =>
  Array.from({ length: requests }, (_, at) => ({
    key: `sample-${at}`,
    group: `prompt-${at % 7}`,
    prompt: "Which number?",
    response: `Answer: ${at % 3}`,
    label: "1",
  }));

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(component("hello"));
  small = await scoreBatch(host, { plugin, run: "small" }, items(12));
  large = await scoreBatch(host, { plugin, run: "large" }, items(320));
});
test.afterAll(() => host.stop());

test("requests sort by a head with the keyboard, and stay sorted after a reload", async ({
  page,
}) => {
  await enter(page, host);
  await open(page, host, `/batches/${small.id}`, "small, iteration 0");
  const table = page.getByRole("table", { name: "Requests of the batch" });
  const keys = table.getByRole("link");
  const head = table.getByRole("columnheader", { name: "Reward" });
  await expect(head).toHaveAttribute("aria-sort", "none");
  await head.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/sort=-reward/);
  await expect(head).toHaveAttribute("aria-sort", "descending");
  await expect(keys.first()).toHaveText("sample-1");
  await page.keyboard.press("Enter");
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  await expect(keys.first()).toHaveText("sample-0");
  await page.reload();
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  await expect(keys.last()).toHaveText("sample-10");
  await expect(page.getByRole("note")).toHaveCount(0);

  // The next request of the drawer is the next row of the table.
  await page.getByRole("button", { name: "Read sample-0" }).click();
  await expect(page.getByRole("dialog", { name: "Request sample-0" })).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.getByRole("dialog", { name: "Request sample-2" })).toBeVisible();
  await page.keyboard.press("Escape");
  await head.getByRole("button").click();
  await expect(head).toHaveAttribute("aria-sort", "none");
  await expect(page).not.toHaveURL(/sort=/);
});

test("a part of a list says that it is sorted alone, and can be made larger", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${large.id}?sort=-key`, "large, iteration 0");
  const table = page.getByRole("table", { name: "Requests of the batch" });
  const keys = table.getByRole("link");
  await expect(keys.first()).toHaveText("sample-49");
  await expect(page.getByRole("note")).toContainText("Sorted among the 50 rows of this page");
  await page.getByRole("combobox", { name: "Rows per page" }).selectOption("500");
  await expect(keys.first()).toHaveText("sample-319");
  await expect(page.getByRole("note")).toHaveCount(0);
  // Only the rows in view are elements; the table tells how many there are.
  await expect(table).toHaveAttribute("aria-rowcount", "321");
  expect(await table.getByRole("row").count()).toBeLessThan(80);
  await expectAccessible(page);
  const frame = page.getByRole("region", { name: "Requests of the batch" });
  await frame.focus();
  // The rows that come into view are measured, which may move the end.
  await expect(async () => {
    await page.keyboard.press("End");
    await expect(keys.last()).toHaveText("sample-0", { timeout: 1_000 });
  }).toPass({ timeout: 30_000 });
  await page.reload();
  await expect(keys.first()).toHaveText("sample-319");
});

test("a click anywhere in a row opens what the row is about", async ({ page, context }) => {
  await enter(page, host);
  await open(page, host, "/batches", "Batches");
  const row = page.getByRole("table", { name: "Batches" }).getByRole("row", { name: /small/ });
  const requests = row.getByRole("cell").nth(4);
  await expect(requests).toContainText("12");
  await requests.click();
  await expect(page.getByRole("heading", { level: 1, name: "small, iteration 0" })).toBeVisible();

  // A link of its own in the row still leads where it says.
  await page.goBack();
  await row.getByRole("link", { name: "small" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "small" })).toBeVisible();

  await page.goBack();
  const opened = context.waitForEvent("page");
  await requests.click({ modifiers: ["ControlOrMeta"] });
  await (await opened).close();
  await expect(page).toHaveURL(/\/batches$/);

  // Where the texts of a row are read beside the table, so does a click in the row.
  await open(page, host, `/batches/${small.id}`, "small, iteration 0");
  const sample = page.getByRole("table", { name: "Requests of the batch" }).getByRole("row");
  await sample.filter({ hasText: "sample-3" }).getByRole("cell").nth(2).click();
  await expect(page.getByRole("dialog", { name: "Request sample-3" })).toBeVisible();
});

test("lists of runs, batches, plugins and keys sort", async ({ page }) => {
  await enter(page, host);
  for (const [path, heading, table, column, first] of [
    ["/runs?sort=run", "Runs", "Runs", "Run", "large"],
    ["/runs?sort=-run", "Runs", "Runs", "Run", "small"],
    ["/batches?sort=requests", "Batches", "Batches", "Requests", "small"],
    ["/batches?sort=-requests", "Batches", "Batches", "Requests", "large"],
    ["/plugins?sort=name", "Plugins", "Plugins", "Name", "hello"],
    ["/admin?tab=keys&sort=-last-used", "Admin", /^Keys of/, "Last used", /./],
  ] as const) {
    await open(page, host, path, heading);
    const shown = page.getByRole("table", { name: table });
    const order = path.includes("sort=-") ? "descending" : "ascending";
    await expect(shown.getByRole("columnheader", { name: column, exact: true })).toHaveAttribute(
      "aria-sort",
      order,
    );
    await expect(shown.getByRole("row").nth(1)).toContainText(first);
  }
  await open(page, host, "/runs?sort=no-such-column", "Runs");
  await expect(page.getByRole("table", { name: "Runs" }).getByRole("row")).toHaveCount(3);
});

test("a time range that is left by Back is shown no longer", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/runs", "Runs");
  const time = page.getByRole("combobox", { name: "Time" });
  await time.selectOption("Last 24 hours");
  await expect(page).toHaveURL(/within=24h/);
  await time.selectOption("Custom range");
  await expect(page).not.toHaveURL(/within/);
  await expect(page.getByLabel("From")).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/within=24h/);
  await expect(time).toHaveValue("24h");
  await expect(page.getByLabel("From")).toHaveCount(0);
});
