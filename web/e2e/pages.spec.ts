// Checks every page with realistic data: axe finds no problem in both colour schemes, and keys
// reach everything. `npm run record` records the pages for visual.spec.ts.

import type { Cookie, Page } from "@playwright/test";
import { announce, type Batch, type Item, scoreBatch, submit } from "./batches";
import { component, guest, Host } from "./host";
import { expectAccessible, expectNoOverflow, waitUntilSettled } from "./look";
import { bootstrap, open, readAsTables, sessionOf } from "./people";
import { startRecording } from "./recorded";
import { expect, test } from "./test";

const SCHEMES = ["light", "dark"] as const;

let host: Host;
/** Cookies of one session for all tests. */
let cookies: Cookie[];
/** A plugin that causes load, and a live batch of it. */
let loaded: string;
let live: Batch;
/** A late batch and a failed request. */
let late: string;
let failed: string;
let run: string;
let version: string;

interface Ended {
  batch: { id: string; counts: { error: number } };
  late: boolean;
}

/** Items for the guest `worker_load`, which takes the number of rounds from the response. */
function load(requests: number, rounds: number): Item[] {
  return Array.from({ length: requests }, (_, at) => ({
    key: `sample-${at}`,
    group: `prompt-${Math.floor(at / 8)}`,
    prompt: "How long does it take?",
    response: String(Math.round(rounds * (1 + at / requests))),
    label: at % 9,
  }));
}

/** The first of items that the seed always creates. */
function first<T>(items: readonly T[]): T {
  const [one] = items;
  if (one === undefined) throw new Error("the seed made none");
  return one;
}

interface PageCheck {
  name: string;
  path: () => string;
  heading: string | RegExp;
  /** Waits for the main content of the page. */
  ready: (page: Page) => Promise<void>;
  /** Height of the screenshot if the content needs more space. */
  height?: number;
}

test.beforeAll(async () => {
  const seed = ["--batches", "120", "--size", "256", "--days", "7"];
  host = await Host.start({ workers: "cpu=1..2", seed });
  await bootstrap(host);
  cookies = await sessionOf(host);
  const { items: ended } = await host.call<{ items: Ended[] }>(
    "GET",
    "/v1/batches?state=done&limit=100",
  );
  late = first(ended.filter((one) => one.late)).batch.id;
  const broken = first(ended.filter((one) => one.batch.counts.error > 0)).batch.id;
  await host.publish(component("math"));
  await host.publish(component("hello"));
  loaded = await host.publish(guest("worker_load"));
  // One batch with a failure that was late, and one that waits for its trainer.
  const wrong = { ...load(1, 500)[0], key: "wrong", label: "no number" } as Item;
  const past = { plugin: loaded, run: "qwen-4b-grpo", iteration: 11, max_extra_delay_ms: 1 };
  await scoreBatch(host, past, [wrong, ...load(8, 20_000)]);
  const patient = { plugin: loaded, run: "qwen-4b-grpo", iteration: 12, expected_size: 64 };
  await submit(host, await announce(host, patient), load(40, 2_000));
  const runs = await host.call<{ items: { name: string; plugin: string; batches: number }[] }>(
    "GET",
    "/v1/runs?limit=50",
  );
  const longest = runs.items.reduce((one, two) => (two.batches > one.batches ? two : one));
  run = longest.name;
  version = longest.plugin.replace("@", "/");
  const errors = await host.call<{ items: { id: string }[] }>(
    "GET",
    `/v1/batches/${broken}/requests?kind=error&limit=1`,
  );
  failed = first(errors.items).id;
});
test.afterAll(() => host.stop());

const seen = (role: "table" | "img" | "form" | "tab", name: string | RegExp) => (page: Page) =>
  expect(page.getByRole(role, { name }).first()).toBeVisible();

/** Pages checked while the service is under load. */
const LIVE_PAGES: PageCheck[] = [
  {
    name: "overview",
    path: () => "/",
    heading: "Overview",
    ready: seen("table", "Live batches"),
  },
  {
    name: "batch-live",
    path: () => `/batches/${live.id}`,
    heading: "llama-8b-grpo, iteration 3",
    ready: seen("img", /^Timeline of/),
  },
  {
    name: "capacity",
    path: () => "/capacity",
    heading: "Capacity",
    ready: seen("img", /^Busy, /),
  },
  { name: "workers", path: () => "/workers", heading: "Workers", ready: seen("table", /Workers/) },
];

const PAGES: PageCheck[] = [
  { name: "runs", path: () => "/runs", heading: "Runs", ready: seen("table", "Runs") },
  {
    name: "run",
    path: () => `/runs/${encodeURIComponent(run)}`,
    heading: /./,
    ready: seen("img", "Histogram of rewards by iteration"),
    height: 1000,
  },
  {
    name: "incidents",
    path: () => "/incidents",
    heading: "Incidents",
    ready: seen("table", "Incidents"),
  },
  { name: "batches", path: () => "/batches", heading: "Batches", ready: seen("table", "Batches") },
  {
    name: "batch",
    path: () => `/batches/${late}`,
    heading: /, iteration/,
    ready: seen("img", /^Timeline of/),
    height: 1280,
  },
  {
    name: "request",
    path: () => `/requests/${failed}`,
    heading: /^Request /,
    ready: seen("table", "Log lines"),
  },
  { name: "plugins", path: () => "/plugins", heading: "Plugins", ready: seen("table", "Plugins") },
  {
    name: "plugin",
    path: () => `/plugins/${version.split("/")[0]}`,
    heading: /./,
    ready: seen("table", /^Versions of/),
  },
  {
    name: "version",
    path: () => `/plugins/${version}`,
    heading: /@/,
    ready: seen("table", "Requests by verdict"),
  },
  {
    name: "simulate",
    path: () => `/simulate?batch=${late}`,
    heading: "Simulate",
    ready: simulated,
  },
  {
    name: "admin",
    path: () => "/admin",
    heading: "Admin",
    ready: seen("img", /^Cost of .* by day/),
  },
  ...["members", "keys", "audit", "retention", "settings", "tenants", "people"].map(
    (tab): PageCheck => ({
      name: `admin-${tab}`,
      path: () => `/admin?tab=${tab}`,
      heading: "Admin",
      ready: async (page) => {
        await expect(page.getByRole("tab", { selected: true })).toHaveText(new RegExp(tab, "i"));
        await expect(page.getByRole("tabpanel").locator("table, form").first()).toBeVisible();
      },
    }),
  ),
  {
    name: "tenant",
    path: () => "/admin/tenants/vision",
    heading: "vision",
    ready: seen("tab", "Usage and quotas"),
  },
  {
    name: "account",
    path: () => "/account",
    heading: "Change password",
    ready: (page) => expect(page.getByLabel("New password")).toBeVisible(),
  },
  {
    name: "compare",
    path: () => '/compare?runs=["qwen-4b-grpo"]&smoothing=0.5',
    heading: "Compare runs",
    ready: seen("img", /^qwen-4b-grpo by iteration/),
  },
  {
    name: "account-keys",
    path: () => "/account/keys",
    heading: "Your keys",
    ready: (page) => expect(page.getByText("No keys yet")).toBeVisible(),
  },
];

async function simulated(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Max workers in cpu" }).fill("32");
  const gpus = page.getByRole("textbox", { name: "Max workers in gpu" });
  if (await gpus.isVisible()) await gpus.fill("16");
  await page.getByRole("button", { name: "Simulate", exact: true }).click();
  await expect(page.getByRole("table", { name: "Workers by stage" })).toBeVisible();
}

async function look(page: Page, check: PageCheck): Promise<void> {
  await page.context().addCookies(cookies);
  await page.setViewportSize({ width: 1280, height: check.height ?? 800 });
  const record = await startRecording(page);
  await open(page, host, check.path(), check.heading);
  await check.ready(page);
  await waitUntilSettled(page);
  await record(check.name);
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
  await page.setViewportSize({ width: 400, height: 800 });
  await expectNoOverflow(page);
}

test.describe("under load", () => {
  test.beforeAll(async () => {
    const busy = { plugin: loaded, run: "llama-8b-grpo", iteration: 3, expected_size: 512 };
    live = await announce(host, { ...busy, max_extra_delay_ms: 8_000 });
    await submit(host, live, load(48, 400_000));
  });
  // The following tests run without this load.
  test.afterAll(() => host.call("POST", `/v1/batches/${live.id}/cancel`));
  for (const check of LIVE_PAGES) test(check.name, ({ page }) => look(page, check));
});

for (const check of PAGES) test(check.name, ({ page }) => look(page, check));

test("sign-in", async ({ page }) => {
  const record = await startRecording(page);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await open(page, host, "/sign-in", "Sign in to Assay");
    await expect(page.getByRole("textbox", { name: "Email" })).toBeVisible();
    await record("sign-in");
    await expectAccessible(page);
    await page.goto(`${host.url}/invitation#token`);
    await expect(page.getByRole("textbox", { name: "Password" })).toBeVisible();
    await expectAccessible(page);
  }
});

test("errors and empty lists", async ({ page }) => {
  await page.context().addCookies(cookies);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await open(page, host, "/batches/00000000-0000-7000-8000-000000000000", "Batch");
    await expect(page.getByRole("alert")).toBeVisible();
    await expectAccessible(page);
    await open(page, host, "/runs?q=no-such-run", "Runs");
    await expect(page.getByText("No matching runs")).toBeVisible();
    await expectAccessible(page);
    await page.goto(`${host.url}/nowhere`);
    await expect(page.getByText("Page not found")).toBeVisible();
    await expectAccessible(page);
  }
});

test("dialogs, and charts as tables", async ({ page }) => {
  await page.context().addCookies(cookies);
  await open(page, host, "/admin?tab=keys", "Admin");
  await page.getByRole("button", { name: "Create a key" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await everyScheme(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Create a key" })).toBeFocused();
  await open(page, host, "/runs/qwen-4b-grpo", "qwen-4b-grpo");
  await expect(page.getByRole("img", { name: /^Histogram/ })).toBeVisible();
  // Comes after the charts.
  await expect(page.getByRole("table", { name: "Iterations of the run" })).toBeVisible();
  await readAsTables(page);
  await expect(page.getByRole("table", { name: "Reward in numbers", exact: true })).toBeVisible();
  await everyScheme(page);
});

async function everyScheme(page: Page): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await waitUntilSettled(page);
    await expectAccessible(page);
  }
}

test("the keyboard alone leads from the first link to a request", async ({ page }) => {
  await page.context().addCookies(cookies);
  await open(page, host, "/batches", "Batches");
  await expect(page.getByRole("table", { name: "Batches" })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  const state = page.getByRole("combobox", { name: "State" });
  await page.keyboard.press("Tab");
  await expect(state).toBeFocused();
  const batch = page.getByRole("table", { name: "Batches" }).getByRole("link").nth(1);
  await tabTo(page, batch);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: /, iteration/ })).toBeVisible();
  const timeline = page.getByRole("application");
  await tabTo(page, timeline);
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: /^Request / })).toBeVisible();

  async function tabTo(on: Page, wanted: ReturnType<Page["getByRole"]>): Promise<void> {
    await expect(wanted).toBeVisible();
    for (let presses = 0; presses < 80; presses += 1) {
      await on.keyboard.press("Tab");
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
    }
    throw new Error("the element is not among the next 80 Tab stops");
  }
});

test("a narrow screen has a button for the navigation", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  const record = await startRecording(page);
  await page.context().addCookies(cookies);
  await open(page, host, "/", "Overview");
  await page.getByRole("button", { name: "Open navigation" }).click();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await expect(page.getByRole("table", { name: "Runs" })).toBeVisible();
  await record("runs-narrow");
  await expectAccessible(page);
});
