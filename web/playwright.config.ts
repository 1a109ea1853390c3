// Browser tests against real servers. Each test file starts its own server (e2e/host.ts).

import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** Debian's browsers. The first has no windows, and takes three fifths of the processor time of the other. */
const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export default defineConfig({
  testDir: "e2e",
  // The slow speed test runs by `npm run e2e:fast` only.
  testIgnore: process.env.ASSAY_FAST ? [] : ["fast.spec.ts"],
  outputDir: "test-results",
  // The pictures in the documentation are those that visual.spec.ts compares pages with.
  snapshotPathTemplate: "{testDir}/../../docs/dashboard/{arg}{ext}",
  // One worker: each browser needs a server and a database on the same two cores.
  workers: 1,
  // Generous limits, because a busy machine is many times slower. Only hanging tests reach them.
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  retries: 0,
  reporter: [["list"]],
  use: {
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.ASSAY_CHROMIUM ?? BROWSERS.find((path) => existsSync(path)),
      // Chromium does not run as root with its own sandbox.
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
  },
});
