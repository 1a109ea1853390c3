// Those who sign in.

import { expect, type Page, request } from "@playwright/test";
import type { Host } from "./host";

export interface Person {
  name: string;
  email: string;
  password: string;
}

export const ADMINISTRATOR: Person = {
  name: "Ada",
  email: "ada@example.com",
  password: "correct horse battery",
};

/** From the page that shows where nobody administers the platform yet. */
export async function makeFirstAdministrator(page: Page, token: string): Promise<void> {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByLabel("Email").fill(ADMINISTRATOR.email);
  await page.getByRole("textbox", { name: "Name" }).fill(ADMINISTRATOR.name);
  await page.getByRole("textbox", { name: "Password" }).fill(ADMINISTRATOR.password);
  await page.getByRole("button", { name: "Make the first administrator" }).click();
}

export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Without the pages, for tests of what lies behind them. */
export async function bootstrap(host: Host): Promise<void> {
  await host.call("POST", "/v1/bootstrap", { ...ADMINISTRATOR, token: host.bootstrapToken() });
}

/** Signed in from here on; the session's cookie is the browser's, as if the page had asked for it. */
export async function enter(page: Page, host: Host, person = ADMINISTRATOR): Promise<void> {
  await page.context().addCookies(await sessionOf(host, person));
}

/** A new session's cookies, which any number of browsers may come with. */
export async function sessionOf(host: Host, { email, password } = ADMINISTRATOR) {
  const calling = await request.newContext();
  const answer = await calling.post(`${host.url}/v1/session`, { data: { email, password } });
  expect(answer.ok(), await answer.text()).toBe(true);
  const { cookies } = await calling.storageState();
  await calling.dispose();
  return cookies;
}

/** Opens a page and waits for its heading. */
export async function open(page: Page, host: Host, path: string, heading: string | RegExp) {
  await page.goto(host.url + path);
  await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
}

/** By the menu in the page's corner. */
export async function menu(page: Page, item: string): Promise<void> {
  await page.getByRole("banner").getByRole("button", { name: / · / }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Every chart on the page as a table. */
export async function readAsTables(page: Page): Promise<void> {
  const buttons = page.getByRole("button", { name: "View as table" });
  const figures = await buttons.count();
  expect(figures).toBeGreaterThan(0);
  // Each is another button once it was pressed.
  for (let left = figures; left > 0; left -= 1) await buttons.first().click();
  await expect(buttons).toHaveCount(0);
}
