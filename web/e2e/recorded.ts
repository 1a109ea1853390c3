// Recorded answers of a server, from which pages are shown again without a server. The same page then
// looks the same on every run: its data, its clock and its live stream stand still.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, type Page, type Request, type Response } from "@playwright/test";

const FOLDER = join(import.meta.dirname, "recorded");
const SUFFIX = ".json.gz";
/** The built dashboard. */
const DIST = resolve(process.env.ASSAY_DIST ?? join(import.meta.dirname, "../dist"));
/** Every request to it is answered here. Browsers treat it as a secure origin, as with HTTPS. */
const ORIGIN = "http://localhost";
const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

interface Answer {
  status: number;
  type: string;
  body: string;
}

export interface RecordedPage {
  /** Path and query of the page. */
  path: string;
  /** Milliseconds of the page's clock, which stands still. */
  now: number;
  width: number;
  height: number;
  /** The last answer to each method and address. */
  answers: Record<string, Answer>;
}

const keyOf = (method: string, url: string) => {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}`;
};

/** Answers of the interface, except for the live stream, which has no end. */
const isRecorded = (request: Request) => {
  const { pathname } = new URL(request.url());
  return pathname.startsWith("/v1/") && pathname !== "/v1/live";
};

/** Records the pages that a test shows if ASSAY_RECORD is set. Call it before the page is opened. */
export async function startRecording(page: Page): Promise<(name: string) => Promise<void>> {
  if (!process.env.ASSAY_RECORD) return async () => {};
  const now = Date.now();
  // Times in queries are computed from the clock, so that it must be the same when the page is shown again.
  await page.clock.setFixedTime(now);
  const pending: Promise<void>[] = [];
  const answers = new Map<string, Answer>();
  page.on("response", (response: Response) => {
    const request = response.request();
    if (!isRecorded(request)) return;
    const type = response.headers()["content-type"] ?? "application/json";
    const take = async () => {
      const body = await response.text().catch(() => undefined);
      if (body === undefined) return;
      answers.set(keyOf(request.method(), request.url()), {
        status: response.status(),
        type,
        body,
      });
    };
    pending.push(take());
  });
  return async (name) => {
    await Promise.all(pending);
    const { pathname, search } = new URL(page.url());
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
    const sorted = [...answers].sort(([one], [two]) => (one < two ? -1 : 1));
    const recorded: RecordedPage = {
      path: pathname + search,
      now,
      width,
      height,
      answers: Object.fromEntries(sorted),
    };
    mkdirSync(FOLDER, { recursive: true });
    const packed = gzipSync(JSON.stringify(recorded), { level: 9 });
    writeFileSync(join(FOLDER, name + SUFFIX), packed);
  };
}

export function recordedNames(): string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(SUFFIX));
  return files.map((file) => basename(file, SUFFIX)).sort();
}

/** Opens a page of `recorded/` at its recorded size and time. */
export async function showRecorded(page: Page, name: string): Promise<void> {
  const packed = readFileSync(join(FOLDER, name + SUFFIX));
  const recorded = JSON.parse(gunzipSync(packed).toString()) as RecordedPage;
  const unknown: string[] = [];
  await page.route("**/*", async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (!isRecorded(request)) {
      await route.fulfill(fileOf(pathname));
      return;
    }
    const key = keyOf(request.method(), request.url());
    const answer = recorded.answers[key];
    if (!answer) unknown.push(key);
    const { status, type, body } = answer ?? { status: 404, type: "application/json", body: "{}" };
    await route.fulfill({ status, contentType: type, body });
  });
  await page.addInitScript(openStreamWithoutEvents);
  await page.clock.setFixedTime(recorded.now);
  await page.setViewportSize({ width: recorded.width, height: recorded.height });
  await page.goto(ORIGIN + recorded.path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.evaluate(() => document.fonts.ready);
  await page.waitForLoadState("networkidle");
  expect(unknown, "calls without a recorded answer; `npm run record` records them").toEqual([]);
}

/** A file of the dashboard; every other path is one of its pages. */
function fileOf(pathname: string) {
  const file = join(DIST, pathname);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  const shown = isFile ? file : join(DIST, "index.html");
  return { contentType: TYPES[extname(shown)] ?? "text/plain", body: readFileSync(shown) };
}

/** Runs in the page before its scripts. */
function openStreamWithoutEvents(): void {
  class SilentStream extends EventTarget {
    static readonly CLOSED = 2;
    readonly readyState = 1;
    onopen: (() => void) | null = null;
    onerror: (() => void) | null = null;
    constructor() {
      super();
      setTimeout(() => this.onopen?.());
    }
    close(): void {}
  }
  Object.assign(window, { EventSource: SilentStream });
}
