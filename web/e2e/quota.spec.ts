// A quota refuses a batch and is raised by an administrator.

import { announce } from "./batches";
import { guest, Host } from "./host";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
});
test.afterAll(() => host.stop());

test("a quota refuses a batch until it is raised", async ({ page, other }) => {
  const quotas = { open_batches_max: 1 };
  await host.call("POST", "/v1/tenants", { name: "small", settings: { quotas } });
  const scopes = ["batches:write", "batches:read", "plugins:publish", "plugins:promote"];
  const made = await host.call<{ secret: string }>("POST", "/v1/keys", { tenant: "small", scopes });
  const key = made.secret;
  const owner = host.key;
  host.key = key;
  const plugin = await host.publish(guest("trivial"));
  host.key = owner;

  await announce(host, { plugin, run: "one" }, key);
  const refused = announce(host, { plugin, run: "two" }, key);
  await expect(refused).rejects.toMatchObject({
    status: 429,
    code: "quota_exceeded",
    detail: "the quota open_batches_max is 1, and 1 batches are open",
  });

  await enter(page, host);
  await open(page, host, "/admin/tenants/small", "small");
  const used = page.getByRole("progressbar", { name: "Open batches" });
  await expect(used).toHaveAttribute("aria-valuetext", "1 of 1");
  await expect(page.getByText("1 of 1, limit reached")).toBeVisible();

  await page.getByRole("tab", { name: "Settings" }).click();
  const settings = page.getByRole("form", { name: "Settings" });
  await settings.getByLabel("Max open batches").fill("3");
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(settings.getByText("Saved", { exact: true })).toBeVisible();
  await announce(host, { plugin, run: "two" }, key);

  await page.getByRole("tab", { name: "Usage and quotas" }).click();
  await expect(used).toHaveAttribute("aria-valuetext", "2 of 3");
  await page.getByRole("tab", { name: "Audit" }).click();
  const changed = page.getByRole("row", { name: /quota\.set/ });
  await expect(changed).toContainText("open_batches_max: 1 → 3");

  // Members of the tenant see the quota but cannot change it.
  const added = await host.call<{ invitation: { token: string } }>("POST", "/v1/members", {
    tenant: "small",
    email: "alan@example.com",
    role: "admin",
  });
  const theirs = await other();
  const accepted = await theirs.request.post(`${host.url}/v1/invitations/accept`, {
    data: { token: added.invitation.token, password: "a password of his" },
  });
  expect(accepted.ok()).toBe(true);
  await open(theirs, host, "/admin?tab=settings", "Admin");
  const row = theirs.getByRole("row", { name: /Max open batches/ });
  await expect(row).toContainText("3");
  await expect(theirs.getByRole("button", { name: "Save" })).toHaveCount(0);
});

test("a tenant can be suspended and resumed", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin/tenants/small?tab=settings", "small");
  const suspension = page.getByRole("region", { name: "Suspension" });
  await suspension.getByRole("button", { name: "Suspend" }).click();
  const asked = page.getByRole("dialog", { name: "Suspend" });
  await asked.getByRole("button", { name: "Suspend" }).click();
  await expect(suspension.getByRole("heading", { name: "Suspended" })).toBeVisible();
  await suspension.getByRole("button", { name: "Resume" }).click();
  const again = page.getByRole("dialog", { name: "Resume" });
  await again.getByRole("button", { name: "Resume" }).click();
  await expect(suspension.getByRole("heading", { name: "Suspend", exact: true })).toBeVisible();
});
