// Compares every recorded page with its picture in docs/dashboard, in both colour schemes, and looks at it in other
// widths. No server runs. `npm run pictures` writes the pictures anew after a wanted change.

import type { Page } from "@playwright/test";
import { expectNoOverflow, waitUntilSettled } from "./look";
import { recordedNames, showRecorded } from "./recorded";
import { expect, test } from "./test";

/** The browser that made the pictures, and its major version. */
const SHELL = /chromium-headless-shell$/;
const VERSION = "156.";
/**
 * Others draw text a little differently. The tolerance of this one is less than a changed word, and its
 * threshold less than the difference between two levels of the dark scheme.
 */
const TOLERANCE = { maxDiffPixels: 100, threshold: 0.01 };
const TOLERANCE_OF_OTHERS = { maxDiffPixelRatio: 0.03 };

/** From a telephone to a large screen: nothing may lie beside the page. */
const WIDTHS = [390, 768, 1920, 2560];

test.use({ timezoneId: "UTC", locale: "en-US", reducedMotion: "reduce" });

async function simulate(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Simulate", exact: true }).click();
  await expect(page.getByRole("table", { name: "Workers by stage" })).toBeVisible();
  // The button keeps the pointer, but not its colour.
  await page.mouse.move(0, 0);
}

for (const name of recordedNames()) {
  test(`picture of ${name}`, async ({ page, browser, launchOptions }) => {
    await showRecorded(page, name);
    if (name === "simulate") await simulate(page);
    const same =
      SHELL.test(launchOptions.executablePath ?? "") && browser.version().startsWith(VERSION);
    const tolerance = same ? TOLERANCE : TOLERANCE_OF_OTHERS;
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await waitUntilSettled(page);
      await expect(page).toHaveScreenshot(scheme === "dark" ? `${name}-dark.png` : `${name}.png`, {
        ...tolerance,
        animations: "disabled",
      });
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoOverflow(page);
    }
  });
}
