// The actions of a trainer without an administrator: personal keys, acknowledged incidents, samples as files.

import { readFileSync } from "node:fs";
import { type Batch, liarItems, scoreBatch } from "./batches";
import { guest, Host, RequestRefused } from "./host";
import { expectAccessible } from "./look";
import { bootstrap, enter, menu, open, type Person } from "./people";
import { expect, test } from "./test";

const TRAINER: Person = { name: "Tim", email: "tim@example.com", password: "a password of his" };

let host: Host;
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const call = { email: TRAINER.email, name: TRAINER.name, role: "trainer" };
  const member = await host.call<{ invitation: { token: string } }>("POST", "/v1/members", call);
  const { token } = member.invitation;
  await host.call("POST", "/v1/invitations/accept", { token, password: TRAINER.password });
  const plugin = await host.publish(guest("liar"));
  const items = liarItems(0, ["random", "panic", "two_stages"]);
  batch = await scoreBatch(host, { plugin, run: "his/run", iteration: 1 }, items);
});
test.afterAll(() => host.stop());

test("a trainer makes a key, uses it and revokes it", async ({ page }) => {
  await enter(page, host, TRAINER);
  await open(page, host, "/", "Overview");
  await menu(page, "Your keys");
  await expect(page.getByRole("heading", { level: 1, name: "Your keys" })).toBeVisible();
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await expect(creating.getByRole("checkbox")).toHaveCount(2);
  await creating.getByRole("textbox", { name: "Name" }).fill("laptop");
  await creating.getByRole("textbox", { name: "Plugins" }).fill("No Plugin");
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  // The server says which field it refuses.
  await expect(creating.getByRole("textbox", { name: "Plugins" })).toHaveAccessibleDescription(
    /Plugin `No` must be/,
  );
  await creating.getByRole("textbox", { name: "Plugins" }).fill("");
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  const shown = creating.getByRole("alert", { name: "New key: laptop" });
  const secret = (await shown.getByText(/^assay_test_/).textContent()) ?? "";
  await creating.getByRole("button", { name: "Done" }).click();
  const session = await host.call<{ scopes: string[] }>("GET", "/v1/session", undefined, secret);
  expect(session.scopes.sort()).toEqual(["batches:read", "batches:write"]);
  const row = page.getByRole("row", { name: /laptop/ });
  await expect(row).toContainText("active");
  await expectAccessible(page);
  await row.getByRole("button", { name: "Revoke: laptop" }).click();
  const asked = page.getByRole("dialog", { name: "Revoke: laptop" });
  await asked.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(row).toContainText("revoked");
  const after = host.call("GET", "/v1/session", undefined, secret);
  await expect(after).rejects.toBeInstanceOf(RequestRefused);
});

test("a secret whose key takes long to make is shown, and made once", async ({ page }) => {
  await enter(page, host, TRAINER);
  await open(page, host, "/account/keys", "Your keys");
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let made = 0;
  await page.route("**/v1/session/keys", async (route) => {
    if (route.request().method() === "POST") {
      made += 1;
      await late;
    }
    await route.fallback();
  });
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("slow");
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  await expect.poll(() => made).toBe(1);
  await expect(creating.getByRole("button", { name: "Cancel" })).toBeDisabled();
  await expect(creating.getByRole("button", { name: "Close" })).toBeDisabled();
  await page.keyboard.press("Escape");
  await expect(creating).toBeVisible();
  answer();
  const shown = creating.getByRole("alert", { name: "New key: slow" });
  await expect(shown.getByText(/^assay_test_/)).toBeVisible();
  await creating.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("row", { name: /slow/ })).toHaveCount(1);
  expect(made).toBe(1);
});

test("a refusal that comes late is shown, and not when the dialog is opened again", async ({
  page,
}) => {
  await enter(page, host, TRAINER);
  await open(page, host, "/account/keys", "Your keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("kept");
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  await creating.getByRole("button", { name: "Done" }).click();
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const problem = { code: "conflict", detail: "not now" };
  await page.route("**/revoke", async (route) => {
    await late;
    await route.fulfill({ status: 409, json: problem });
  });
  await page.getByRole("button", { name: "Revoke: kept" }).click();
  const asked = page.getByRole("dialog", { name: "Revoke: kept" });
  await asked.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(asked.getByRole("button", { name: "Cancel" })).toBeDisabled();
  await expect(asked.getByRole("button", { name: "Close" })).toBeDisabled();
  await page.keyboard.press("Escape");
  answer();
  await expect(asked.getByRole("alert")).toContainText("Not now");
  await page.keyboard.press("Escape");
  await expect(asked).toBeHidden();
  await page.getByRole("button", { name: "Revoke: kept" }).click();
  await expect(asked.getByRole("button", { name: "Revoke", exact: true })).toBeVisible();
  await expect(asked.getByRole("alert")).toHaveCount(0);
});

test("a secret is copied where the browser offers no clipboard, as with plain HTTP", async ({
  page,
}) => {
  await page.addInitScript(() =>
    Object.defineProperty(navigator, "clipboard", { value: undefined }),
  );
  await enter(page, host, TRAINER);
  await open(page, host, "/account/keys", "Your keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const creating = page.getByRole("dialog", { name: "Create a key" });
  await creating.getByRole("textbox", { name: "Name" }).fill("copied");
  await creating.getByRole("button", { name: "Create", exact: true }).click();
  const shown = creating.getByRole("alert", { name: "New key: copied" });
  const secret = (await shown.getByText(/^assay_test_/).textContent()) ?? "";
  await shown.getByRole("button", { name: "Copy" }).click();
  await expect(shown.getByRole("button", { name: "Copied" })).toBeVisible();
  await page.evaluate(() => {
    document.execCommand = () => false;
  });
  await shown.getByRole("button", { name: "Copy" }).click();
  await expect(shown.getByRole("button")).toHaveText("Copy failed: select the text");
  await creating.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Create a key" }).click();
  await creating.getByRole("textbox", { name: "Name" }).focus();
  await page.keyboard.press("Control+V");
  await expect(creating.getByRole("textbox", { name: "Name" })).toHaveValue(secret);
});

test("an incident is acknowledged, muted and opened again", async ({ page }) => {
  await enter(page, host, TRAINER);
  await open(page, host, "/incidents", "Incidents");
  const row = page.getByRole("row", { name: /requests failed/ });
  await row.getByRole("button", { name: /^Acknowledge: requests failed/ }).click();
  await expect(row).toContainText(`Acknowledged by ${TRAINER.email}`);
  await expectAccessible(page);
  await page.getByRole("checkbox", { name: "Open only" }).check();
  await expect(page.getByText("No matching incidents")).toBeVisible();
  await open(page, host, "/", "Overview");
  const recent = page.getByRole("region", { name: "Recent incidents" });
  await expect(recent.getByRole("row", { name: /requests failed/ })).toHaveCount(0);

  await open(page, host, "/incidents", "Incidents");
  await row.getByRole("button", { name: /^Reopen: / }).click();
  await row.getByRole("button", { name: /^Mute: / }).click();
  await page.getByRole("menuitem", { name: "Mute for 1 day" }).click();
  await expect(row).toContainText(`Muted by ${TRAINER.email} until`);
  await row.getByRole("button", { name: /^Reopen: / }).click();
  await expect(row.getByRole("button", { name: /^Acknowledge: / })).toBeVisible();
});

test("samples of a run and of a batch are saved as files", async ({ page }) => {
  await enter(page, host, TRAINER);
  const save = async (item: string) => {
    await page.getByRole("button", { name: "Export samples" }).click();
    const coming = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: item, exact: true }).click();
    const download = await coming;
    return {
      name: download.suggestedFilename(),
      text: readFileSync(await download.path(), "utf8"),
    };
  };
  await open(page, host, "/runs/his%2Frun", "his/run");
  const lines = await save("JSON Lines");
  expect(lines.name).toBe("his_run-samples.jsonl");
  const samples = lines.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(samples.map(({ kind }) => kind)).toEqual(["scored", "error", "scored"]);
  expect(samples[0]).toMatchObject({ batch: batch.id, prompt: "Do as you are told." });
  expect("reward" in samples[1]).toBe(false);
  await open(page, host, `/batches/${batch.id}`, /his\/run/);
  const table = await save("CSV without texts");
  expect(table.text.trim().split("\r\n")).toHaveLength(4);
  expect(table.text).not.toContain("Do as you are told.");
});

test("T and D are explained where they are shown", async ({ page }) => {
  await enter(page, host, TRAINER);
  await open(page, host, `/batches/${batch.id}`, /his\/run/);
  const button = page.getByRole("button", { name: "What is T + D?" });
  await button.click();
  const explained = page.getByRole("dialog");
  await expect(explained).toContainText("the ideal end, is when the batch would end");
  await expect(explained).toContainText("the delay tolerance");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(explained).toHaveCount(0);
  await expect(button).toBeFocused();
});
