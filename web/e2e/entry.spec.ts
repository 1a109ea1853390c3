// Sign-in, sign-out and passwords.

import { Host } from "./host";
import { ADMINISTRATOR, makeFirstAdministrator, menu, open, signIn, switchTenant } from "./people";
import { expect, test } from "./test";

let host: Host;
test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
});
test.afterAll(() => host.stop());

test("the token creates the first administrator, once", async ({ page }) => {
  const token = host.bootstrapToken();
  await page.goto(`${host.url}/runs?q=x`);
  await expect(page.getByRole("heading", { name: "Welcome to Assay" })).toBeVisible();
  await page.getByRole("textbox", { name: "Token" }).fill("not the token");
  await page.getByLabel("Email").fill(ADMINISTRATOR.email);
  await page.getByRole("textbox", { name: "Password" }).fill(ADMINISTRATOR.password);
  await page.getByRole("button", { name: "Create the administrator" }).click();
  await expect(page.getByRole("alert")).toContainText("token");

  await makeFirstAdministrator(page, token);
  // Sign-in returns to the requested page.
  await expect(page).toHaveURL(/\/runs\?q=x/);
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
});

test("a wrong password is refused and the right one accepted", async ({ page }) => {
  await page.goto(`${host.url}/sign-in`);
  await signIn(page, { ...ADMINISTRATOR, password: "a wrong password" });
  await expect(page.getByRole("alert")).toBeVisible();
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
});

test("signing out ends the session in every tab", async ({ context, page }) => {
  await page.goto(`${host.url}/sign-in`);
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  const tab = await context.newPage();
  await open(tab, host, "/runs", "Runs");
  // Browsers delay work of background pages by seconds.
  await page.bringToFront();
  await menu(page, "Sign out");
  await expect(page.getByRole("heading", { name: "Sign in to Assay" })).toBeVisible();
  await tab.bringToFront();
  await expect(tab.getByRole("heading", { name: "Sign in to Assay" })).toBeVisible();
});

test("signing out says so where the session has not ended", async ({ page, browserErrors }) => {
  browserErrors.expectServerDown();
  await page.goto(`${host.url}/sign-in`);
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  await page.route("**/v1/session", (route) =>
    route.request().method() === "DELETE" ? route.fulfill({ status: 503 }) : route.fallback(),
  );
  await menu(page, "Sign out");
  const told = page.getByRole("dialog", { name: "You are still signed in" });
  await expect(told.getByRole("alert")).toContainText("The server answered 503");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  await page.unroute("**/v1/session");
  await menu(page, "Sign out");
  await expect(page.getByRole("heading", { name: "Sign in to Assay" })).toBeVisible();
});

test("signing in does not redirect to another site", async ({ page }) => {
  await page.goto(`${host.url}/sign-in?back=https%3A%2F%2Fexample.com%2F`);
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  expect(new URL(page.url()).origin).toBe(new URL(host.url).origin);
});

test("a sign-in begins in the tenant of the page that asked", async ({ context, page }) => {
  await host.call("POST", "/v1/tenants", { name: "a-first" });
  const member = { tenant: "a-first", email: ADMINISTRATOR.email, role: "viewer" };
  await host.call("POST", "/v1/members", member);
  const tenant = page.getByRole("banner").getByRole("button", { name: /^Tenant / });
  await page.goto(`${host.url}/sign-in`);
  await signIn(page, ADMINISTRATOR);
  // The browser has had no session before.
  await expect(tenant).toHaveAccessibleName("Tenant platform");
  await switchTenant(page, "a-first");
  await expect(tenant).toHaveAccessibleName("Tenant a-first");

  await context.clearCookies();
  await page.goto(`${host.url}/runs?q=x`);
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await expect(page).toHaveURL(/\/runs\?q=x/);
  await expect(tenant).toHaveAccessibleName("Tenant a-first");
});

test("a sign-in with the organisation names the page that asks, and its refusal is a page", async ({
  page,
}) => {
  await page.goto(`${host.url}/v1/session/oidc?back=%2Fruns`);
  await expect(page.getByRole("alert")).toHaveText(/This server has no sign-in with your/);
  await page.route("**/v1/session/methods", (route) =>
    route.fulfill({ json: { password: true, oidc: true, bootstrap: false } }),
  );
  await page.reload();
  const link = page.getByRole("link", { name: "Sign in with your organisation" });
  await expect(link).toHaveAttribute("href", "/v1/session/oidc?back=%2Fruns");
  await page.goto(`${host.url}/sign-in?problem=Call+eve`);
  await expect(page.getByRole("alert")).toHaveText(/The sign-in with your organisation failed/);
  await expect(page.getByText("Call eve")).toHaveCount(0);
});

test("a new password replaces the old one", async ({ page, other }) => {
  const changed = { ...ADMINISTRATOR, password: "another long password" };
  await page.goto(`${host.url}/sign-in`);
  await signIn(page, ADMINISTRATOR);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  await menu(page, "Change password");
  await page.getByLabel("Current password").fill(ADMINISTRATOR.password);
  await page.getByLabel("New password").fill("short");
  await page.getByRole("button", { name: "Change password" }).click();
  // The field says what is wrong, and nothing is sent.
  await expect(page.getByText("Use at least 12 characters.")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await page.getByLabel("New password").fill(changed.password);
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByText("Password changed")).toBeVisible();

  const elsewhere = await other();
  await elsewhere.goto(`${host.url}/sign-in`);
  await signIn(elsewhere, ADMINISTRATOR);
  await expect(elsewhere.getByRole("alert")).toBeVisible();
  await signIn(elsewhere, changed);
  await expect(elsewhere.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
});
