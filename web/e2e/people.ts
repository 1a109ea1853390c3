// Users that sign in.

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

/** Fills in the page for the first administrator. */
export async function makeFirstAdministrator(page: Page, token: string): Promise<void> {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByLabel("Email").fill(ADMINISTRATOR.email);
  await page.getByRole("textbox", { name: "Name" }).fill(ADMINISTRATOR.name);
  await page.getByRole("textbox", { name: "Password" }).fill(ADMINISTRATOR.password);
  await page.getByRole("button", { name: "Create the administrator" }).click();
}

export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Creates the first administrator through the API. */
export async function bootstrap(host: Host): Promise<void> {
  await host.call("POST", "/v1/bootstrap", { ...ADMINISTRATOR, token: host.bootstrapToken() });
}

/** Signs in through the API and gives the session cookie to the browser. */
export async function enter(page: Page, host: Host, person = ADMINISTRATOR): Promise<void> {
  await page.context().addCookies(await sessionOf(host, person));
}

/** Cookies of a new session, which several browsers may use. */
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

/** Selects an item of the account menu. */
export async function menu(page: Page, item: string): Promise<void> {
  await page
    .getByRole("banner")
    .getByRole("button", { name: /^Account / })
    .click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Makes another tenant the current one, by its name and the user's role. */
export async function switchTenant(page: Page, tenant: string): Promise<void> {
  await page
    .getByRole("banner")
    .getByRole("button", { name: /^Tenant / })
    .click();
  await page.getByRole("option", { name: tenant }).click();
}

/** Shows every chart on the page as a table. */
export async function readAsTables(page: Page): Promise<void> {
  const buttons = page.getByRole("button", { name: "View as table" });
  const figures = await buttons.count();
  expect(figures).toBeGreaterThan(0);
  // A pressed button has another name.
  for (let left = figures; left > 0; left -= 1) await buttons.first().click();
  await expect(buttons).toHaveCount(0);
}
