// Checks of accessibility and layout.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "./test";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Waits until nothing loads and no animation runs. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await expect(page.getByRole("status", { name: /^Loading/ })).toHaveCount(0);
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((moving) => moving.finished.catch(() => undefined))),
  );
}

export async function expectAccessible(page: Page): Promise<void> {
  // Legacy mode runs axe in the page itself. Otherwise axe opens another page, and this one is
  // throttled in the background. The pages have no frames, which this mode would miss.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ["violations"] })
    .withTags(STANDARDS)
    .analyze();
  const problems = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map((one) => one.message)}`),
  );
  expect(problems, "problems found by axe").toEqual([]);
}

/** The page must not scroll horizontally; tables scroll by themselves. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const out = () =>
    page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  await expect.poll(out, { message: "pixels of horizontal overflow" }).toBeLessThanOrEqual(0);
}
