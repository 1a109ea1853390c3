// Samples of a run: sorted, filtered and searched by the server, and read one after the other by keys.

import type { Page } from "@playwright/test";
import { type Batch, type Item, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { expectAccessible, expectNoOverflow, waitUntilSettled } from "./look";
import { bootstrap, enter, open } from "./people";
import { startRecording } from "./recorded";
import { expect, test } from "./test";

const RUN = "qwen-4b-math";

/** Prompts with their answers. */
const PROBLEMS = [
  { name: "fractions", prompt: "What is $\\frac{1}{4} + \\frac{1}{4}$?", label: "1/2" },
  { name: "squares", prompt: "Solve $x^2 = 49$ for $x > 0$.", label: "7" },
  { name: "sums", prompt: "What is $\\sum_{i=1}^{10} i$?", label: "55" },
];

/** Four rollouts of each problem, of which the first ones are right. */
function rollouts(right: readonly number[]): Item[] {
  return PROBLEMS.flatMap(({ name, prompt, label }, problem) =>
    Array.from({ length: 4 }, (_, at) => {
      const answer = at < (right[problem] ?? 0) ? label : String(100 + at);
      // Each response is longer than the one before.
      const steps = "First, I simplify. ".repeat(1 + problem * 4 + at);
      const doubt = at === 2 ? "Wait, let me check that again. " : "";
      return {
        key: `${name}-${at}`,
        group: name,
        prompt,
        response: `${steps}${doubt}The answer is $\\boxed{${answer}}$.`,
        label,
      };
    }),
  );
}

let host: Host;
let last: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(component("math"));
  const call = { plugin, run: RUN, group_size: 4 };
  await scoreBatch(host, { ...call, iteration: 1 }, rollouts([1, 0, 2]));
  last = await scoreBatch(host, { ...call, iteration: 2 }, rollouts([4, 0, 2]));
  const preparing = async () =>
    (await host.call<{ preparing: number }>("GET", `/v1/samples?run=${RUN}`)).preparing;
  await expect.poll(preparing, { timeout: 60_000 }).toBe(0);
});
test.afterAll(() => host.stop());

const samples = (page: Page) => page.getByRole("table", { name: "Samples" });
const rows = (page: Page) => samples(page).locator("tbody tr");
/** The keys of the shown samples, in their order. */
const keys = (page: Page) => rows(page).locator("td:last-child");

async function openSamples(page: Page, search: string): Promise<void> {
  await enter(page, host);
  await open(page, host, `/samples?${search}`, "Samples");
  await expect(samples(page)).toBeVisible();
}

test("a link of the run leads to its samples, which a head sorts", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/runs/${RUN}`, RUN);
  await page.getByRole("main").getByRole("link", { name: "Samples", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Samples" })).toBeVisible();
  await expect(rows(page)).toHaveCount(24);
  const head = samples(page).getByRole("columnheader", { name: "Length" });
  await head.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/sort=-response_chars/);
  await expect(head).toHaveAttribute("aria-sort", "descending");
  await expect(keys(page).first()).toHaveText("sums-2");
  await page.keyboard.press("Enter");
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  await expect(keys(page).first()).toHaveText("fractions-0");
  await page.reload();
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  // A number is sorted downwards first.
  await samples(page).getByRole("button", { name: "Reward" }).click();
  await expect(page).toHaveURL(/sort=-reward/);
  await expect(keys(page).first()).toHaveText("sums-1");
});

test("filters narrow the list, stay in the address, and are cleared", async ({ page }) => {
  await openSamples(page, `run=${RUN}`);
  const filters = page.getByRole("search", { name: "Filters" });
  await filters.getByRole("combobox", { name: "Groups" }).selectOption("all_right");
  await expect(rows(page)).toHaveCount(4);
  await expect(keys(page).last()).toHaveText("fractions-0");
  await filters.getByRole("combobox", { name: "Groups" }).selectOption("all_wrong");
  await expect(rows(page)).toHaveCount(8);
  await filters.getByRole("combobox", { name: "Groups" }).selectOption("Any");
  await filters.getByRole("textbox", { name: "Reward from" }).fill("0.5");
  await expect(rows(page)).toHaveCount(9);
  await filters.getByRole("button", { name: "More filters" }).click();
  await filters.getByRole("textbox", { name: "Iteration from" }).fill("2");
  await expect(rows(page)).toHaveCount(6);
  await expect(page).toHaveURL(/reward_min=0.5/);
  await page.reload();
  await expect(rows(page)).toHaveCount(6);
  await expectAccessible(page);
  await filters.getByRole("textbox", { name: "Group", exact: true }).fill("nobody");
  await expect(page.getByText("No matching samples")).toBeVisible();
  await filters.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows(page)).toHaveCount(24);
});

test("a number is typed with pauses", async ({ page }) => {
  await openSamples(page, `run=${RUN}`);
  const from = page.getByRole("textbox", { name: "Reward from" });
  // Each stop is a number that is written otherwise in the address.
  await from.pressSequentially("00.");
  await expect(page).toHaveURL(/reward_min=0(&|$)/);
  await expect(from).toHaveValue("00.");
  await from.pressSequentially("5");
  await expect(page).toHaveURL(/reward_min=0\.5/);
  await expect(from).toHaveValue("00.5");
  await expect(rows(page)).toHaveCount(9);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(from).toHaveValue("");
});

test("a number is typed as the tables write it, and what is none is told", async ({ page }) => {
  await openSamples(page, `run=${RUN}`);
  const to = page.getByRole("textbox", { name: "Length to" });
  await to.fill("1,000");
  await expect(page).toHaveURL(/response_chars_max=1000/);
  await to.fill("abc");
  await expect(to).toHaveAccessibleDescription("Not a number");
  await expect(page).not.toHaveURL(/response_chars_max/);
  await expectAccessible(page);
  await to.fill("");
  await expect(to).not.toHaveAccessibleDescription("Not a number");
});

test("words of prompts and responses are found", async ({ page }) => {
  await openSamples(page, `run=${RUN}`);
  const words = page.getByRole("textbox", { name: "Words of prompt or response" });
  await words.fill("wait check");
  await expect(rows(page)).toHaveCount(6);
  await words.fill('"let me check" solve');
  await expect(rows(page)).toHaveCount(2);
  await expect(keys(page).first()).toHaveText("squares-2");
  await words.fill("solve -check");
  await expect(rows(page)).toHaveCount(6);
  await words.fill("nowhere");
  await expect(page.getByText("No matching samples")).toBeVisible();
});

test("J and K read one sample after the other, over pages", async ({ page }) => {
  await openSamples(page, `batch=${last.id}&rows=50`);
  await page.getByRole("button", { name: "Read fractions-0" }).click();
  const shown = (key: string) => page.getByRole("dialog", { name: `Request ${key}` });
  await expect(shown("fractions-0")).toBeVisible();
  await expect(shown("fractions-0").getByRole("math").first()).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("j");
  await expect(shown("fractions-1")).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`sample=${last.id}.1`));
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await expect(shown("fractions-1")).toBeVisible();
  await page.reload();
  await expect(shown("fractions-1")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("a group's rollouts stand side by side, with the prompt's solve rate", async ({ page }) => {
  await openSamples(page, `run=${RUN}&iteration_min=2&group=sums`);
  await page.getByRole("button", { name: "Compare the group sums" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Group sums" });
  const region = dialog.getByRole("region", { name: "Rollouts of the group" });
  await expect(region.locator(".rollout")).toHaveCount(4);
  await expect(region.locator(".rollout").first()).toContainText("advantage +1");
  const rates = dialog.getByRole("region", { name: "Solve rate of this prompt" });
  await rates.getByRole("button", { name: "View as table" }).click();
  const table = rates.getByRole("table");
  await expect(table.getByRole("row")).toHaveCount(3);
  await expect(table.getByRole("row").last()).toContainText("50");
  await waitUntilSettled(page);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the page of the run has pass@k, components and drift", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/runs/${RUN}`, RUN);
  const pass = page.getByRole("region", { name: "pass@k" });
  await pass.getByRole("button", { name: "View as table" }).click();
  // One of four, none and two of four; then four, none and two.
  const lines = pass.getByRole("table").getByRole("row");
  await expect(lines.first()).toHaveText(/pass@1.*pass@2.*pass@4/);
  await expect(lines.nth(1)).toContainText("25");
  await expect(lines.nth(2)).toContainText("50");
  await expect(
    page.getByRole("img", { name: "Prompts by solve rate and iteration" }),
  ).toBeVisible();
  await expect(page.getByRole("region", { name: "Drift of verdicts" })).toBeVisible();
  await page.getByRole("combobox", { name: "Baseline" }).selectOption("First 5 shown iterations");
  await expect(page).toHaveURL(/baseline=5$/);
  await page.getByRole("combobox", { name: "Baseline" }).selectOption("Chosen iterations");
  await page.getByRole("textbox", { name: "From iteration" }).fill("0");
  await expect(page).toHaveURL(/baseline=0-\d+$/);
  await expectAccessible(page);
});

test("both schemes, and a narrow screen", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const record = await startRecording(page);
  await openSamples(page, `run=${RUN}&sort=-reward`);
  await waitUntilSettled(page);
  await record("samples");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Compare the group fractions" }).first().click();
  await expect(page.locator(".rollout").last()).toContainText("advantage");
  await expect(page.locator(".rollout").last()).toContainText("The answer is");
  await waitUntilSettled(page);
  await record("samples-group");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 400, height: 800 });
  await expectNoOverflow(page);
});
