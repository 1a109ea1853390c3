// Errors of forms stand at their fields: those found before sending, and those that the server names.

import type { Locator } from "@playwright/test";
import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { expectAccessible } from "./look";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  await host.call("POST", "/v1/tenants", { name: "small" });
  const plugin = await host.publish(component("hello"));
  const item = { key: "one", prompt: "", response: "Answer: 1", label: "1" };
  batch = await scoreBatch(host, { plugin, run: "past" }, [item]);
});
test.afterAll(() => host.stop());

async function expectError(field: Locator, text: RegExp): Promise<void> {
  await expect(field).toHaveAccessibleDescription(text);
  await expect(field).toHaveAttribute("aria-invalid", "true");
}

test("an invitation", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin/tenants/small?tab=members", "small");
  await page.getByRole("button", { name: "Invite a member" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a member" });
  const email = dialog.getByRole("textbox", { name: "Email" });
  const invite = dialog.getByRole("button", { name: "Invite", exact: true });
  await email.fill("nobody");
  await invite.click();
  await expectError(email, /Enter an address such as/);
  await expectAccessible(page);
  // The server knows more than the form.
  await email.fill(`${"a".repeat(300)}@example.com`);
  await invite.click();
  await expectError(email, /Must be an address such as/);
  await email.fill("grace@example.com");
  const name = dialog.getByRole("textbox", { name: "Name" });
  await name.fill("x".repeat(2_000));
  await invite.click();
  await expectError(name, /Must be at most \d+ plain characters/);
  await expect(dialog.getByRole("alert")).toHaveCount(0);
  await name.fill("Grace");
  await invite.click();
  await expect(dialog.getByText(/\/invitation#/)).toBeVisible();
});

test("a key", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin/tenants/small?tab=keys", "small");
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a key" });
  const create = dialog.getByRole("button", { name: "Create", exact: true });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const plugins = dialog.getByRole("textbox", { name: "Plugins" });
  await create.click();
  await expectError(name, /Enter a name/);
  await name.fill("trainer");
  await plugins.fill("No Plugin");
  await create.click();
  await expectError(plugins, /Plugin `No` must be/);
  await plugins.fill("");
  await create.click();
  await expect(dialog.getByRole("alert", { name: "New key: trainer" })).toBeVisible();
});

test("settings and retention of a tenant", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin/tenants/small?tab=settings", "small");
  const settings = page.getByRole("form", { name: "Settings" });
  const weight = settings.getByRole("textbox", { name: "Weight" });
  await weight.fill("99999999");
  await settings.getByRole("button", { name: "Save" }).click();
  await expectError(weight, /Must be 1 to \d+, not 99999999/);
  const workers = settings.getByRole("textbox", { name: "Max workers in cpu" });
  await weight.fill("3");
  await workers.fill("99999999");
  await settings.getByRole("button", { name: "Save" }).click();
  await expectError(workers, /Must be at most \d+/);
  await expect(settings.getByRole("alert")).toHaveCount(0);
  await workers.fill("2");
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(settings.getByText("Saved", { exact: true })).toBeVisible();
  await expect(workers).not.toHaveAttribute("aria-invalid");

  await page.getByRole("tab", { name: "Retention" }).click();
  const retention = page.getByRole("form", { name: "Retention" });
  const results = retention.getByRole("textbox", { name: "Results" });
  await results.fill("99999999");
  await retention.getByRole("button", { name: "Save" }).click();
  await expectError(results, /Must be 1 to \d+/);
});

test("saving changes only what was changed in the form", async ({ page }) => {
  await host.call("PATCH", "/v1/tenants/small", { grants: { gpu: true } });
  await enter(page, host);
  await open(page, host, "/admin/tenants/small?tab=settings", "small");
  const settings = page.getByRole("form", { name: "Settings" });
  const gpu = settings.getByRole("checkbox", { name: "Plugins may use GPUs" });
  await expect(gpu).toBeChecked();
  // An operator takes the grant back, while the form is open.
  await host.call("PATCH", "/v1/tenants/small", { grants: { gpu: false } });
  await settings.getByRole("textbox", { name: "Display name" }).fill("Small team");
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(settings.getByText("Saved", { exact: true })).toBeVisible();
  const { settings: kept } = await host.call<{
    settings: { display_name: string; grants: { gpu: boolean } };
  }>("GET", "/v1/tenants/small");
  expect([kept.display_name, kept.grants.gpu]).toEqual(["Small team", false]);
  // The next visit shows what holds then.
  await page.getByRole("tab", { name: "Retention" }).click();
  await host.call("PATCH", "/v1/tenants/small", { weight: 7 });
  await page.getByRole("tab", { name: "Settings" }).click();
  await expect(settings.getByRole("textbox", { name: "Weight" })).toHaveValue("7");
  await expect(gpu).not.toBeChecked();
});

test("a simulation", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/simulate?batch=${batch.id}`, "Simulate");
  const workers = page.getByRole("textbox", { name: "Max workers in cpu" });
  const simulate = page.getByRole("button", { name: "Simulate", exact: true });
  await workers.fill("0");
  await simulate.click();
  await expectError(workers, /Enter 1 or more/);
  await workers.fill("99999999");
  await simulate.click();
  await expectError(workers, /Pool cpu may have \d+ workers at most/);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await workers.fill("4");
  await simulate.click();
  await expect(page.getByRole("table", { name: "Workers by stage" })).toBeVisible();
});
