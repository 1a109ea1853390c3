// Reads the documentation. No server runs: the pages are part of the dashboard.

import { expectAccessible, expectNoOverflow, waitUntilSettled } from "./look";
import { showRecorded } from "./recorded";
import { expect, test } from "./test";

test("the documentation is read from page to page, in both schemes and on a narrow screen", async ({
  page,
}) => {
  await showRecorded(page, "overview");
  await page.getByRole("link", { name: "Documentation", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "What it is" })).toBeVisible();
  const contents = page.getByRole("navigation", { name: "Pages of the documentation" });
  await contents.getByRole("link", { name: "Configuration" }).click();
  await expect(page).toHaveURL(/\/book\/operations\/configuration$/);
  const text = page.locator(".book");
  // A link in the text, to a page, without loading the dashboard anew.
  await page.evaluate(() => Object.assign(window, { stays: true }));
  await text.getByRole("link").first().click();
  await expect(page).not.toHaveURL(/operations\/configuration$/);
  expect(await page.evaluate(() => "stays" in window)).toBe(true);

  await contents.getByRole("link", { name: "Workers", exact: true }).click();
  await expect(page).toHaveTitle("Workers · Assay");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
});

test("the palette finds pages of the documentation", async ({ page }) => {
  await showRecorded(page, "overview");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("slurm");
  await page.keyboard.press("Enter");
  await expect(
    page.getByRole("heading", { level: 1, name: "Workers as jobs of Slurm" }),
  ).toBeVisible();
});
