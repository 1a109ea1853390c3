// Text of tenants never becomes markup, a script or a colour.

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { bootstrap, enter, open, readAsTables } from "./people";
import { expect, test } from "./test";

const MARKUP = '<img src="x" onerror="alert(1)"><script>alert(2)</script>';
const COLOURED = "\u001b[31mred\u001b[0m";
const RUN = "<b>run";

let host: Host;
let batch: Batch;

/** The tutorial plugin with hostile texts of the same length. */
function harmful(): Buffer {
  const changed: [string, string][] = [
    ["The tutorial: 1 when the text after the last `Answer:`", MARKUP.slice(0, 54)],
    ["comparing ", "\u001b[31m<b>x "],
    [" bytes with ", "<script>a(1)"],
  ];
  const bytes = readFileSync(component("hello"));
  for (const [words, others] of changed) {
    const at = bytes.indexOf(words);
    expect(at, words).toBeGreaterThan(0);
    expect(others).toHaveLength(words.length);
    bytes.write(others, at, "latin1");
  }
  return bytes;
}

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(harmful());
  const item = {
    key: `${MARKUP}`,
    group: `${MARKUP} group`,
    prompt: `${MARKUP} ${COLOURED} prompt`,
    response: `${MARKUP} Answer: ${MARKUP}`,
    label: `${MARKUP} label`,
    metadata: { [MARKUP]: COLOURED },
  };
  const failed = { ...item, key: "javascript:alert(3)", label: null };
  batch = await scoreBatch(host, { plugin, run: RUN }, [item, failed]);
});
test.afterAll(() => host.stop());

/** The hostile text creates no element. The fixture detects dialogs and policy violations. */
async function isText(page: Page): Promise<void> {
  const main = page.getByRole("main");
  await expect(main.locator("script, b:text-is('x'), img")).toHaveCount(0);
  await expect(main.locator("a[href^='javascript:']")).toHaveCount(0);
}

test("text on the pages of runs and batches stays text", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/", "Overview");
  await isText(page);
  await open(page, host, "/runs", "Runs");
  await isText(page);
  await page.getByRole("link", { name: RUN }).click();
  await expect(page.getByRole("heading", { level: 1, name: RUN })).toBeVisible();
  await isText(page);
  await open(page, host, `/batches/${batch.id}`, `${RUN}, iteration 0`);
  await expect(page.getByRole("link", { name: MARKUP })).toBeVisible();
  await isText(page);
  await readAsTables(page);
  await isText(page);
});

test("text on the page of a request and its log stays text", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/requests/${batch.id}.0`, `Request ${MARKUP}`);
  const shown = page.getByRole("main");
  await expect(shown.getByRole("region", { name: "Prompt" })).toContainText(MARKUP);
  await expect(shown.getByRole("region", { name: "Response" })).toContainText(MARKUP);
  const logs = page.getByRole("table", { name: "Log lines" });
  await expect(logs).toContainText("<b>x");
  await expect(logs).toContainText("<script>a(1)");
  await page.getByRole("button", { name: "Show extract" }).click();
  await expect(shown.getByRole("region", { name: "Artifact of extract" })).toContainText(MARKUP);
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await expect(page.getByText("Same result")).toBeVisible();
  await isText(page);
  await open(page, host, `/requests/${batch.id}.1`, "Request javascript:alert(3)");
  await expect(shown.getByText("No reward is recorded for errors")).toBeVisible();
  await isText(page);
});

test("text on the pages of plugins and administration stays text", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/plugins", "Plugins");
  await expect(page.getByRole("table", { name: "Plugins" })).toContainText("onerror");
  await isText(page);
  await page.getByRole("link", { name: "hello", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "hello" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("<img");
  await isText(page);
  await page.goto(`${host.url}/admin?tab=keys`);
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("<img src=x onerror=alert(4)>");
  await creating.getByRole("button", { name: "Create" }).click();
  await creating.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("row", { name: /<img src=x/ })).toBeVisible();
  await page.getByRole("tab", { name: "Audit", exact: true }).click();
  await expect(page.getByRole("table", { name: "Audit log" })).toContainText("onerror");
  await isText(page);
});

test("a URL with a script opens a page without it", async ({ page }) => {
  await enter(page, host);
  const harm = encodeURIComponent(MARKUP);
  for (const path of [
    `/runs?q=${harm}`,
    `/runs/${harm}`,
    `/plugins/${harm}`,
    `/admin?tab=${harm}`,
  ]) {
    await page.goto(host.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await isText(page);
  }
});
