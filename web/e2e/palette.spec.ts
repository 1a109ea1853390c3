// The command palette: by keys to a page, a run, a plugin, a batch by its id, and another tenant.

import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { expectAccessible, expectNoOverflow, waitUntilSettled } from "./look";
import { ADMINISTRATOR, bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(component("hello"));
  const item = { key: "one", prompt: "", response: "Answer: 1", label: "1" };
  batch = await scoreBatch(host, { plugin, run: "qwen/7b" }, [item]);
  await scoreBatch(host, { plugin, run: "llama" }, [item]);
  await host.call("POST", "/v1/tenants", { name: "vision" });
  await host.call("POST", "/v1/members", {
    tenant: "vision",
    email: ADMINISTRATOR.email,
    role: "viewer",
  });
});
test.afterAll(() => host.stop());

test("a search that fails is not one that finds nothing", async ({ page, browserErrors }) => {
  browserErrors.expectServerDown();
  await enter(page, host);
  await open(page, host, "/", "Overview");
  await page.route(/\/v1\/runs\?/, (route) => route.fulfill({ status: 503 }));
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Go to" });
  await expect(dialog.getByRole("combobox")).toBeFocused();
  await page.keyboard.type("nothing of this name");
  await expect(dialog.getByRole("alert")).toContainText("The server answered 503");
  await expect(dialog.getByText("Nothing found.")).toHaveCount(0);
  await page.unroute(/\/v1\/runs\?/);
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect(dialog.getByText("Nothing found.")).toBeVisible();
});

test("a run's page shows nothing of the run before it", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/runs/llama", "llama");
  const main = page.getByRole("main");
  await expect(main.getByText("Last mean reward")).toBeVisible();
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/v1\/runs\/qwen/, async (route) => {
    await late;
    await route.fallback();
  });
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Go to" });
  await expect(dialog.getByRole("combobox")).toBeFocused();
  await page.keyboard.type("qwen");
  await expect(dialog.getByRole("option").first()).toHaveText(/^qwen/);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "qwen/7b" })).toBeVisible();
  await expect(main.getByText("Last mean reward")).toHaveCount(0);
  answer();
  await expect(main.getByText("Last mean reward")).toBeVisible();
});

test("keys lead everywhere", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/", "Overview");
  const field = page.getByRole("combobox", { name: /^Search pages/ });
  const options = page.getByRole("listbox", { name: "Found" }).getByRole("option");
  const go = async (text: string, found: RegExp, heading: string | RegExp) => {
    await page.keyboard.press("Control+k");
    await expect(field).toBeFocused();
    await page.keyboard.type(text);
    await expect(options.first()).toHaveText(found);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(0);
  };
  await go("worker", /^WorkersPages/, "Workers");
  await go("qwen", /^qwen\/7bRuns/, "qwen/7b");
  await go("hell", /^helloPlugins/, "hello");
  await go(batch.id, /^Batch .*Go to/, "qwen/7b, iteration 0");
  await go(`${batch.id}.0`, /^Request .*Go to/, "Request one");

  await page.getByRole("button", { name: "Go to a page, run, plugin or batch" }).click();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/palette-${colorScheme}.png` });
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/palette-390.png` });
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowUp");
  await expect(options.last()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);

  // A viewer of another tenant finds no administration.
  await page.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("visi");
  await expect(options).toHaveText([/^vision \(viewer\)/]);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Tenant vision" })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("admin");
  await expect(page.getByText("Nothing found.")).toBeVisible();
});
