// Every page, with much on it: axe finds nothing in either colour scheme, keys reach what is there.
// With ASSAY_SCREENSHOTS=1 pictures of them are left in docs/dashboard.

import type { Cookie, Page } from "@playwright/test";
import { announce, type Batch, type Item, submit, whole } from "./batches";
import { component, guest, Host } from "./host";
import { fits, flawless, picture, settled } from "./look";
import { bootstrap, open, readAsTables, sessionOf } from "./people";
import { expect, test } from "./test";

const SCHEMES = ["light", "dark"] as const;

let host: Host;
/** Of one session, for all tests. */
let cookies: Cookie[];
/** What work goes to, and a batch of it that is live. */
let loaded: string;
let live: Batch;
/** A batch that came too late, and a request that failed. */
let late: string;
let failed: string;
let run: string;
let version: string;

interface Ended {
  batch: { id: string; counts: { error: number } };
  late: boolean;
}

/** For the guest `worker_load`, whose responses are thousands of rounds. */
function load(requests: number, rounds: number): Item[] {
  return Array.from({ length: requests }, (_, at) => ({
    key: `sample-${at}`,
    group: `prompt-${Math.floor(at / 8)}`,
    prompt: "How long does it take?",
    response: String(Math.round(rounds * (1 + at / requests))),
    label: at % 9,
  }));
}

/** Of what the seed makes for sure. */
function first<T>(items: readonly T[]): T {
  const [one] = items;
  if (one === undefined) throw new Error("the seed made none");
  return one;
}

interface Shot {
  name: string;
  path: () => string;
  heading: string | RegExp;
  /** What has loaded when this is seen. */
  ready: (page: Page) => Promise<void>;
  /** Of the picture, where what matters does not fit. */
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
  // One that failed in part and was late, one that waits for its trainer.
  const wrong = { ...load(1, 500)[0], key: "wrong", label: "no number" } as Item;
  const past = { plugin: loaded, run: "qwen-4b-grpo", iteration: 11, max_extra_delay_ms: 1 };
  await whole(host, past, [wrong, ...load(8, 20_000)]);
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

/** What shows how the service works. */
const WORKING: Shot[] = [
  {
    name: "overview",
    path: () => "/",
    heading: "Overview",
    ready: seen("table", "Batches that are live"),
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
    ready: seen("img", /^Demand, /),
  },
  { name: "workers", path: () => "/workers", heading: "Workers", ready: seen("table", /Workers/) },
];

const SHOTS: Shot[] = [
  { name: "runs", path: () => "/runs", heading: "Runs", ready: seen("table", "Runs") },
  {
    name: "run",
    path: () => `/runs/${encodeURIComponent(run)}`,
    heading: /./,
    ready: seen("img", "Histogram of rewards by iteration"),
    height: 1000,
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
    (tab): Shot => ({
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
];

async function simulated(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Workers of cpu, at most" }).fill("32");
  const gpus = page.getByRole("textbox", { name: "Workers of gpu, at most" });
  if (await gpus.isVisible()) await gpus.fill("16");
  await page.getByRole("button", { name: "Simulate", exact: true }).click();
  await expect(page.getByRole("table", { name: "Workers by stage" })).toBeVisible();
}

async function look(page: Page, shot: Shot): Promise<void> {
  await page.context().addCookies(cookies);
  await page.setViewportSize({ width: 1280, height: shot.height ?? 800 });
  await open(page, host, shot.path(), shot.heading);
  await shot.ready(page);
  await settled(page);
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme });
    await settled(page);
    await picture(page, scheme === "dark" ? `${shot.name}-dark` : shot.name);
    await flawless(page);
  }
  await page.setViewportSize({ width: 400, height: 800 });
  await fits(page);
}

test.describe("in full work", () => {
  test.beforeAll(async () => {
    const busy = { plugin: loaded, run: "llama-8b-grpo", iteration: 3, expected_size: 512 };
    live = await announce(host, { ...busy, max_extra_delay_ms: 8_000 });
    await submit(host, live, load(48, 400_000));
  });
  // What comes after has the machine for itself.
  test.afterAll(() => host.call("POST", `/v1/batches/${live.id}/cancel`));
  for (const shot of WORKING) test(shot.name, ({ page }) => look(page, shot));
});

for (const shot of SHOTS) test(shot.name, ({ page }) => look(page, shot));

test("sign-in", async ({ page }) => {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await open(page, host, "/sign-in", "Sign in to Assay");
    await expect(page.getByRole("textbox", { name: "Email" })).toBeVisible();
    await picture(page, colorScheme === "dark" ? "sign-in-dark" : "sign-in");
    await flawless(page);
    await page.goto(`${host.url}/invitation#token`);
    await expect(page.getByRole("textbox", { name: "Password" })).toBeVisible();
    await flawless(page);
  }
});

test("what fails, and what is empty", async ({ page }) => {
  await page.context().addCookies(cookies);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await open(page, host, "/batches/00000000-0000-7000-8000-000000000000", "Batch");
    await expect(page.getByRole("alert")).toBeVisible();
    await flawless(page);
    await open(page, host, "/runs?q=no-such-run", "Runs");
    await expect(page.getByText("No run is like that")).toBeVisible();
    await flawless(page);
    await page.goto(`${host.url}/nowhere`);
    await expect(page.getByText("There is no such page")).toBeVisible();
    await flawless(page);
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
  await readAsTables(page);
  await expect(page.getByRole("table", { name: "Reward in numbers" })).toBeVisible();
  await everyScheme(page);
});

async function everyScheme(page: Page): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    await flawless(page);
  }
}

test("keys alone lead from the first link to a request", async ({ page }) => {
  await page.context().addCookies(cookies);
  await open(page, host, "/batches", "Batches");
  await expect(page.getByRole("table", { name: "Batches" })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "To the content" })).toBeFocused();
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
    throw new Error("it is not among the next 80 stops of Tab");
  }
});

test("on a narrow screen the pages are behind a button", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await page.context().addCookies(cookies);
  await open(page, host, "/", "Overview");
  await page.getByRole("button", { name: "Open the navigation" }).click();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await picture(page, "runs-narrow");
  await flawless(page);
});
