// Uploads, promotes, rolls back and yanks plugins.

import { join } from "node:path";
import { scoreBatch } from "./batches";
import { guest, Host } from "./host";
import { expectAccessible, waitUntilSettled } from "./look";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
});
test.afterAll(() => host.stop());

test("a component is uploaded, promoted, used and yanked", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/plugins", "Plugins");
  await expect(page.getByText("No plugins yet")).toBeVisible();

  const upload = page.getByRole("form", { name: "Upload" });
  await choose(guest("trivial"));
  const even = "name: even\nrequest: {response: ab}\nexpect: {outcome: scored, reward: 1}\n";
  const golden = { name: "even.yaml", mimeType: "application/yaml", buffer: Buffer.from(even) };
  await upload.locator("input[type=file]").nth(1).setInputFiles(golden);
  await upload.getByRole("button", { name: "Publish" }).click();
  await expect(upload.getByText("trivial@1.0.0 is published")).toBeVisible();
  await expect(page.getByRole("table", { name: "Plugins" })).toContainText("trivial");
  await upload.getByRole("link", { name: "View and promote" }).click();
  const cases = page.getByRole("table", { name: "Golden cases" });
  await expect(cases.getByRole("row", { name: /even/ })).toContainText("passed");
  await open(page, host, "/plugins", "Plugins");
  await choose(guest("trivial_next"));
  await upload.getByRole("button", { name: "Publish" }).click();
  await upload.getByRole("link", { name: "View and promote" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "trivial@1.1.0" })).toBeVisible();

  await page.getByRole("button", { name: "Promote: trivial@1.1.0" }).click();
  const promoting = page.getByRole("dialog", { name: "Promote: trivial@1.1.0" });
  await promoting.getByRole("button", { name: "Promote", exact: true }).click();
  await expect(promoting).toBeHidden();
  await expect(page.getByText("prod is 1.1.0 of trivial now")).toBeVisible();
  await expect(page.getByText("prod", { exact: true })).toBeVisible();
  const items = [{ key: "one", prompt: "", response: "", label: "1" }];
  await scoreBatch(host, { plugin: "trivial@prod", run: "first" }, items);
  await page.reload();
  const runs = page.getByRole("table", { name: "Runs on trivial@1.1.0" });
  await expect(runs.getByRole("link", { name: "first" })).toBeVisible();
  await expect(page.getByRole("img", { name: /Run times of stage score/ })).toBeVisible();

  await page.getByRole("link", { name: "trivial", exact: true }).click();
  const versions = page.getByRole("table", { name: "Versions of trivial" });
  await expect(versions.getByRole("row")).toHaveCount(3);
  await page.getByRole("button", { name: "Promote: trivial@1.0.0" }).click();
  const earlier = page.getByRole("dialog", { name: "Promote: trivial@1.0.0" });
  await earlier.getByRole("button", { name: "Promote", exact: true }).click();
  await expect(page.getByText("prod → 1.0.0")).toBeVisible();
  await page.getByRole("button", { name: "Roll back prod: trivial" }).click();
  const back = page.getByRole("dialog", { name: "Roll back prod: trivial" });
  await expect(back).toContainText("prod: 1.0.0 → 1.1.0");
  await back.getByRole("button", { name: "Roll back prod", exact: true }).click();
  await expect(page.getByText("prod → 1.1.0")).toBeVisible();
  await expect(page.getByText("prod is 1.1.0 of trivial again")).toBeVisible();
  // Somebody else rolls back what the dialog describes: a second step is none that was asked for.
  const prod = "/v1/plugins/trivial/channels/prod";
  for (const version of ["1.0.0", "1.1.0", "1.0.0"]) await host.call("PUT", prod, { version });
  await page.reload();
  await page.getByRole("button", { name: "Roll back prod: trivial" }).click();
  await expect(back).toContainText("prod: 1.0.0 → 1.1.0");
  await host.call("POST", `${prod}/rollback`);
  await back.getByRole("button", { name: "Roll back prod", exact: true }).click();
  await expect(back.getByRole("alert")).toContainText("points to 1.1.0, and no longer to 1.0.0");
  await back.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("prod → 1.1.0")).toBeVisible();
  // Before a promotion: the recorded request again, by the other version, which rewards the opposite.
  await page.getByRole("button", { name: "Promote: trivial@1.0.0" }).click();
  await earlier.getByRole("link", { name: /^Compare it with another version/ }).click();
  await expect(
    page.getByRole("heading", { level: 1, name: "Compare trivial@1.0.0" }),
  ).toBeVisible();
  await expect(page.getByRole("combobox", { name: "Recorded by version" })).toHaveValue(/^1\.1\.0/);
  await expect(async () => {
    // Samples are prepared after the end of their batch.
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await expect(page.getByText("0 → 1", { exact: true })).toBeVisible();
  }).toPass();
  const compared = page.getByRole("table", { name: "Compared requests" });
  await expect(compared.getByRole("row")).toHaveCount(2);
  await expect(compared).toContainText("+1.00");
  await waitUntilSettled(page);
  await expectAccessible(page);
  await page.getByRole("button", { name: /^1 from / }).click();
  await expect(page.getByRole("button", { name: "Show all changed" })).toBeVisible();
  await compared.getByRole("link", { name: "Open" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Request one" })).toBeVisible();

  await open(page, host, "/plugins/trivial", "trivial");
  await page.getByRole("button", { name: "Yank: trivial@1.0.0" }).click();
  const yanking = page.getByRole("dialog", { name: "Yank: trivial@1.0.0" });
  await yanking.getByLabel("Reason").fill("rewards the wrong thing");
  await yanking.getByRole("button", { name: "Yank", exact: true }).click();
  const row = versions.getByRole("row", { name: /1\.0\.0/ });
  await expect(row).toContainText("yanked");
  await expect(row).toContainText("rewards the wrong thing");
  await expect(row.getByRole("button", { name: /^(Promote|Yank)/ })).toHaveCount(0);

  function choose(file: string) {
    return upload.locator("input[type=file]").first().setInputFiles(file);
  }
});

test("the file chooser takes a file, and the page shows why the server refuses a bad one", async ({
  page,
}) => {
  await enter(page, host);
  await open(page, host, "/plugins", "Plugins");
  const upload = page.getByRole("form", { name: "Upload" });
  const chooser = page.waitForEvent("filechooser");
  await upload.getByRole("button", { name: "Component" }).click();
  await (await chooser).setFiles(join(import.meta.dirname, "plugins.spec.ts"));
  await upload.getByRole("button", { name: "Publish" }).click();
  const alert = upload.getByRole("alert");
  await expect(alert).toContainText(/component/i);
  await expect(alert).toContainText("Code");

  await upload.locator("input[type=file]").first().setInputFiles(guest("describe_nonsense"));
  await expect(alert).toHaveCount(0);
  await upload.getByRole("button", { name: "Publish" }).click();
  await expect(alert).toContainText("Not A Name!");
});

test("a refusal ends a comparison with all its replays", async ({ page }) => {
  const items = Array.from({ length: 20 }, (_, at) => ({
    key: `${at}`,
    prompt: "",
    response: "",
    label: "1",
  }));
  await scoreBatch(host, { plugin: "trivial@prod", run: "many" }, items);
  const prepared = async () => {
    const path = "/v1/samples?run=many";
    const { items, preparing } = await host.call<{ items: unknown[]; preparing: number }>(
      "GET",
      path,
    );
    return preparing === 0 ? items.length : 0;
  };
  await expect.poll(prepared, { timeout: 60_000 }).toBe(20);
  await enter(page, host);
  await open(page, host, "/plugins/trivial/1.0.0/compare", "Compare trivial@1.0.0");
  let asked = 0;
  let cancelled = 0;
  await page.route("**/replay", async (route) => {
    asked += 1;
    // The others have no answer yet.
    if (asked !== 8) return;
    const json = { code: "quota_exceeded", detail: "too many requests" };
    await route.fulfill({ status: 429, json });
  });
  page.on("requestfailed", (request) => {
    if (request.url().endsWith("/replay")) cancelled += 1;
  });
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("Too many requests");
  await expect.poll(() => cancelled).toBe(7);
  expect(asked).toBe(8);
});
