// What a page must be to whoever looks at it, and pictures of it.

import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "./test";

const PICTURES = join(import.meta.dirname, "../../docs/dashboard");
const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Nothing loads or fades in any more. */
export async function settled(page: Page): Promise<void> {
  await expect(page.getByRole("status", { name: /^Loading/ })).toHaveCount(0);
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((moving) => moving.finished.catch(() => undefined))),
  );
}

export async function flawless(page: Page): Promise<void> {
  // In the page alone: else axe opens another, and ours runs on in the background, niced. There are no
  // frames that it would miss.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ["violations"] })
    .withTags(STANDARDS)
    .analyze();
  const told = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map((one) => one.message)}`),
  );
  expect(told, "what axe finds").toEqual([]);
}

/** Tables scroll aside by themselves; nothing else sticks out. */
export async function fits(page: Page): Promise<void> {
  const out = () =>
    page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  await expect.poll(out, { message: "pixels that stick out" }).toBeLessThanOrEqual(0);
}

/** Left in docs/dashboard, where pictures are asked for. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.ASSAY_SCREENSHOTS) return;
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: "disabled" });
}
