// Tenants, their keys and members, and isolation between tenants.

import { announce, type Batch } from "./batches";
import { guest, Host, RequestRefused } from "./host";
import { ADMINISTRATOR, bootstrap, enter, menu, open, switchTenant } from "./people";
import { expect, test } from "./test";

let host: Host;
let plugin: string;
/** A batch of the administrator's tenant, which other tenants must not see. */
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  plugin = await host.publish(guest("trivial"));
  batch = await announce(host, { plugin, run: "ours" });
});
test.afterAll(() => host.stop());

test("a tenant is created, and a key whose secret is shown once", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin?tab=tenants", "Admin");
  await page.getByRole("button", { name: "Create a tenant" }).click();
  const making = page.getByRole("dialog", { name: "Create a tenant" });
  await making.getByRole("textbox", { name: "Name" }).fill("Not A Name");
  await making.getByRole("button", { name: "Create" }).click();
  await expect(making.getByRole("textbox", { name: "Name" })).toHaveAccessibleDescription(
    /Tenant `Not A Name` must be/,
  );
  await making.getByRole("textbox", { name: "Name" }).fill("vision");
  await making.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "vision" })).toBeVisible();

  await page.getByRole("tab", { name: "Keys" }).click();
  await expect(page.getByText("No keys yet")).toBeVisible();
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("trainer");
  await creating.getByRole("button", { name: "Create" }).click();
  const shown = creating.getByRole("alert", { name: "New key: trainer" });
  const secret = (await shown.getByText(/^assay_test_/).textContent()) ?? "";
  await creating.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row", { name: /trainer/ });
  await expect(row).toContainText("batches:write, batches:read");
  await expect(row).toContainText("active");
  await expect(page.getByText(secret)).toHaveCount(0);

  // The key reads its own tenant only.
  const session = await host.call<{ tenant: string }>("GET", "/v1/session", undefined, secret);
  expect(session.tenant).toBe("vision");
  const read = host.call("GET", `/v1/batches/${batch.id}`, undefined, secret);
  await expect(read).rejects.toMatchObject({ status: 404 });

  await row.getByRole("button", { name: "Revoke: trainer" }).click();
  const asked = page.getByRole("dialog", { name: "Revoke: trainer" });
  await asked.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(row).toContainText("revoked");
  const after = host.call("GET", "/v1/session", undefined, secret);
  await expect(after).rejects.toBeInstanceOf(RequestRefused);
});

test("a member is invited, accepts, and has the rights of the role", async ({ page, other }) => {
  await enter(page, host);
  await open(page, host, "/admin/tenants/vision?tab=members", "vision");
  await page.getByRole("button", { name: "Invite a member" }).click();
  const inviting = page.getByRole("dialog", { name: "Invite a member" });
  await inviting.getByRole("textbox", { name: "Email" }).fill("grace@example.com");
  await inviting.getByRole("textbox", { name: "Name" }).fill("Grace");
  await inviting.getByLabel("Role").selectOption("viewer");
  await inviting.getByRole("button", { name: "Invite", exact: true }).click();
  const link = (await inviting.getByText(/\/invitation#/).textContent()) ?? "";
  await inviting.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("row", { name: /grace/ })).toContainText("invited");

  const theirs = await other();
  await theirs.goto(link);
  await theirs.getByRole("textbox", { name: "Password" }).fill("a password of hers");
  await theirs.getByRole("button", { name: "Set password" }).click();
  await expect(theirs.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  const pages = theirs.getByRole("navigation", { name: "Pages" }).getByRole("link");
  await expect(pages).toHaveText([
    "Overview",
    "Runs",
    "Batches",
    "Incidents",
    "Plugins",
    "Simulate",
    "Documentation",
  ]);
  await open(theirs, host, "/plugins", "Plugins");
  await expect(theirs.getByText("No plugins yet")).toBeVisible();
  await expect(theirs.getByRole("heading", { name: "Upload a component" })).toHaveCount(0);

  await page.reload();
  const row = page.getByRole("row", { name: /grace/ });
  await expect(row).toContainText("active");
  await row.getByLabel("Role of grace@example.com").selectOption("admin");
  const role = row.getByLabel("Role of grace@example.com");
  await expect(role).toHaveValue("admin");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(role).not.toHaveValue("admin");
  await expect(role).toBeEnabled();
  const said = page.getByText("grace@example.com is admin of");
  // The words for the first choice are gone, so that they are not taken for those for the second.
  await expect(said).toHaveCount(0);
  await role.selectOption("admin");
  await expect(said).toBeVisible();
  await theirs.reload();
  await expect(pages).toHaveText([
    "Overview",
    "Runs",
    "Batches",
    "Incidents",
    "Plugins",
    "Simulate",
    "Admin",
    "Documentation",
  ]);
  await pages.filter({ hasText: "Admin" }).click();
  await expect(theirs.getByRole("tab", { name: "Members" })).toBeVisible();
  await expect(theirs.getByRole("tab", { name: "Tenants" })).toHaveCount(0);
});

test("pages of another tenant are not found", async ({ page }) => {
  await enter(page, host, { name: "", email: "grace@example.com", password: "a password of hers" });
  for (const path of [`/batches/${batch.id}`, "/runs/ours", "/plugins/trivial"]) {
    await page.goto(host.url + path);
    await expect(page.getByRole("alert"), path).toBeVisible();
    await expect(page.getByRole("main"), path).toContainText("not_found");
  }
  await page.goto(`${host.url}/admin/tenants/platform`);
  await expect(page.getByText("This page is for platform administrators")).toBeVisible();
  await page.goto(`${host.url}/no/such/page`);
  await expect(page.getByText("Page not found")).toBeVisible();
  await page.getByRole("link", { name: "overview", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
});

test("a member of two tenants sees one at a time", async ({ page }) => {
  const { email } = ADMINISTRATOR;
  await host.call("POST", "/v1/members", { tenant: "vision", email, role: "trainer" });
  await enter(page, host);
  await open(page, host, "/", "Overview");
  const ours = page.getByRole("row", { name: /ours/ });
  await expect(ours).toBeVisible();
  await switchTenant(page, "vision (trainer)");
  await expect(page.getByRole("button", { name: "Tenant vision" })).toBeVisible();
  await expect(page.getByText("vision has no batches yet")).toBeVisible();
  await expect(ours).toHaveCount(0);
  // An administrator of the platform finds its pages in every tenant.
  await page.getByRole("link", { name: "Capacity", exact: true }).click();
  await page.getByRole("button", { name: "Switch to platform" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Capacity" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Switch to platform" })).toHaveCount(0);
  await switchTenant(page, "vision (trainer)");
  await switchTenant(page, "platform (admin)");
  await expect(ours).toBeVisible();
});

test("a copied link opens its page in its tenant", async ({ context, page }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await enter(page, host);
  await open(page, host, `/batches/${batch.id}`, "ours");
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await switchTenant(page, "vision (trainer)");
  await expect(page.getByRole("button", { name: "Tenant vision" })).toBeVisible();
  await page.goto(link);
  await expect(page.getByRole("heading", { level: 1, name: "ours" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Tenant platform" })).toBeVisible();
  await expect(page).toHaveURL(`${host.url}/batches/${batch.id}`);
  await page.goto(`${host.url}/in/nowhere/batches`);
  await expect(page.getByText("You are not a member of nowhere")).toBeVisible();
});

test("all windows are in the tenant that one of them chose", async ({ context, page }) => {
  await enter(page, host);
  const window = await context.newPage();
  await open(window, host, "/", "Overview");
  await open(page, host, "/account/keys", "Your keys");
  await page.bringToFront();
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await expect(creating).toBeVisible();
  await window.bringToFront();
  await switchTenant(window, "vision (trainer)");
  await page.bringToFront();
  await expect(page.getByRole("button", { name: "Tenant vision" })).toBeVisible();
  // A form that was opened for one tenant is not sent for another.
  await expect(creating).toHaveCount(0);
  await switchTenant(page, "platform (admin)");
  await expect(window.getByRole("button", { name: "Tenant platform" })).toBeVisible();
});

test("a window that does not know of the switch changes nothing", async ({ context, page }) => {
  await enter(page, host);
  await open(page, host, "/account/keys", "Your keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("laptop");
  const session = await (await context.request.get(`${host.url}/v1/session`)).json();
  const switched = await context.request.post(`${host.url}/v1/session/tenant`, {
    headers: { "X-Assay-Csrf": session.csrf },
    data: { tenant: "vision" },
  });
  expect(switched.ok()).toBe(true);
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page.getByRole("button", { name: "Tenant vision" })).toBeVisible();
  await expect(creating).toHaveCount(0);
  const keys = await (await context.request.get(`${host.url}/v1/session/keys`)).json();
  expect(keys.items).toEqual([]);
});

test("a removed member loses access at once, and the audit log lists everything", async ({
  page,
  other,
}) => {
  const theirs = await other();
  const grace = { name: "", email: "grace@example.com", password: "a password of hers" };
  await enter(theirs, host, grace);
  await open(theirs, host, "/runs", "Runs");

  await enter(page, host);
  await open(page, host, "/admin/tenants/vision?tab=members", "vision");
  await page.getByRole("button", { name: "Remove: grace@example.com" }).click();
  const asked = page.getByRole("dialog", { name: "Remove: grace@example.com" });
  await asked.getByRole("button", { name: "Remove", exact: true }).click();
  await expect(page.getByRole("row", { name: /grace/ })).toHaveCount(0);
  // The next read on any page notices the end of the session.
  await theirs.getByRole("link", { name: "Batches", exact: true }).click();
  await expect(theirs.getByRole("heading", { name: "Sign in to Assay" })).toBeVisible();
  await expect(theirs).toHaveURL(/back=%2Fbatches$/);

  await page.getByRole("tab", { name: "Audit" }).click();
  const acts = page.getByRole("table", { name: "Audit log" });
  for (const act of ["tenant.create", "key.create", "key.revoke", "member.add", "member.remove"]) {
    await expect(acts.getByRole("cell", { name: act, exact: true }).first(), act).toBeVisible();
  }
  await page.getByRole("textbox", { name: "Action" }).fill("key.revoke");
  await page.getByRole("button", { name: "Apply filters" }).click();
  await expect(page).toHaveURL(/action=key\.revoke/);
  await expect(acts.getByRole("row")).toHaveCount(2);
  await expect(acts).not.toContainText("assay_test_");
  await menu(page, "Sign out");
});
