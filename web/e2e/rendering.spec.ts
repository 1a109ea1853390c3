// Prompts and responses as Markdown with formulas, in a browser with the content security policy.

import type { Page } from "@playwright/test";
import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { expectAccessible, expectNoOverflow, waitUntilSettled } from "./look";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

const PROMPT = "Solve **carefully**: what is $\\frac{1}{4} + \\frac{1}{4}$?";
const RESPONSE = [
  "<think>Perhaps \\boxed{1}?</think>",
  "## Sum",
  "1. The *denominators* agree.",
  "2. So \\[\\frac{1}{4} + \\frac{1}{4} = \\frac{2}{4}.\\]",
  "",
  "| step | value |",
  "|---|---|",
  "| sum | $\\frac24$ |",
  "",
  "```python",
  "print(1 / 4 + 1 / 4)",
  "```",
  "",
  "The answer is $\\boxed{\\frac{1}{2}}$.",
].join("\n");
const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  '<a href="javascript:alert(1)" style="position:fixed">x</a>',
  "[link](javascript:alert(1)) [link](https://evil.example) ![pixel](https://evil.example/p.png)",
  "$\\href{javascript:alert(1)}{x} \\htmlStyle{position:fixed}{y} \\color{red} z$",
  `$${"{".repeat(1_900)}$ ${">".repeat(2_000)}`,
  "\\boxed{1}",
].join("\n\n");

let host: Host;
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(component("math"));
  const item = { group: "sum", prompt: PROMPT, label: "1/2" };
  batch = await scoreBatch(host, { plugin, run: "texts", group_size: 3 }, [
    { ...item, key: "right", response: RESPONSE },
    { ...item, key: "hostile", prompt: HOSTILE, response: HOSTILE },
    { ...item, key: "long", response: `${"a $x$ **b** ".repeat(83_000)}\\boxed{3}` },
  ]);
});
test.afterAll(() => host.stop());

/** Text of tenants makes none of these. The fixture detects scripts and violations of the policy. */
async function expectHarmless(page: Page): Promise<void> {
  const texts = page.locator(".rendered, pre.raw");
  await expect(texts.locator("script, img, a, style, iframe, svg, [style], [href]")).toHaveCount(0);
}

test("a response is rendered with its answer marked, and raw on request", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/requests/${batch.id}.0`, "Request right");
  const response = page.getByRole("region", { name: "Response" });
  await expect(response.getByRole("math").first()).toBeVisible();
  await expect(response.getByRole("listitem")).toHaveCount(2);
  await expect(response.getByRole("table")).toContainText("step");
  await expect(response.locator(".code")).toContainText("print(1 / 4 + 1 / 4)");
  // The box of the thought is not the answer.
  await expect(response.locator(".answer")).toHaveCount(1);
  await expect(response.locator(".answer mfrac")).toHaveText("12");
  await expect(page.getByRole("region", { name: "Prompt" }).locator("strong")).toHaveText(
    "carefully",
  );
  await expectHarmless(page);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
  const view = page.getByRole("radiogroup", { name: "View of the response" });
  await view.getByText("Raw").click();
  await expect(response.locator("mark")).toHaveText("\\frac{1}{2}");
  await expect(response).toContainText("## Sum");
  await page.reload();
  await expect(response).toContainText("## Sum");
  await view.getByText("Rendered").click();
  await expect(response.getByRole("math").first()).toBeVisible();
});

test("hostile texts are harmless in the drawer, in a group and on a page", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${batch.id}?sample=1`, "texts, iteration 0");
  const drawer = page.getByRole("dialog", { name: "Request hostile" });
  await expect(drawer.locator(".rendered")).toHaveCount(2);
  await expect(drawer.getByRole("region", { name: /^Response/ })).toContainText("<script>alert(1)");
  await expectHarmless(page);
  await drawer.getByRole("button", { name: "Compare the group" }).click();
  const rollouts = page.getByRole("region", { name: "Rollouts of the group" });
  await expect(rollouts.locator(".rendered")).toHaveCount(3);
  await expectHarmless(page);
  await open(page, host, `/requests/${batch.id}.1`, "Request hostile");
  await expect(page.locator(".rendered")).toHaveCount(2);
  await expectHarmless(page);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
});

test("a megabyte is rendered in part", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/requests/${batch.id}.2`, "Request long");
  const response = page.getByRole("region", { name: "Response" });
  await expect(response).toContainText("Choose Raw to read all of it");
  expect(await response.locator("*").count()).toBeLessThan(60_000);
  await page.getByRole("radiogroup", { name: "View of the response" }).getByText("Raw").click();
  await expect(response.locator("mark")).toHaveText("3");
});
