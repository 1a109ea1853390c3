// Browser tests against real servers, which each test file starts for itself (e2e/host.ts).

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  // What takes minutes runs by `npm run e2e:fast` alone.
  testIgnore: process.env.ASSAY_FAST ? [] : ["fast.spec.ts"],
  outputDir: "test-results",
  // Two cores, and a server with its database beside each browser.
  workers: 1,
  // Only what hangs comes to these: a busy machine takes many times as long as a quiet one.
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
      executablePath: process.env.ASSAY_CHROMIUM ?? "/usr/bin/chromium",
      // Chromium refuses to run as root with its own sandbox.
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
  },
});
