// The test fixture. It fails a test if the browser reports an error, a violation of the content
// security policy, or an answer with a server error.

import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";

export { expect };

/** Browsers report refused calls as errors, but the page shows them, so they are no fault. */
const REFUSAL = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Delay of answers in `make test-long`, which reveals tests that read a page too early. */
const LATE_MS = process.env.ASSAY_TEST_LONG ? 1500 : 0;

async function answerLate(context: BrowserContext): Promise<void> {
  await context.route(/\/v1\/|\.js$/, async (route) => {
    // Most answers are delayed a little, some a lot.
    await new Promise((done) => setTimeout(done, Math.random() ** 3 * LATE_MS));
    // The page may be closed by now.
    await route.continue().catch(() => {});
  });
}

export class BrowserErrors {
  readonly all: string[] = [];
  private away = false;

  /** From now on, failed connections to the server are expected. */
  expectServerDown(): void {
    this.away = true;
  }

  async of(context: BrowserContext): Promise<void> {
    context.on("console", (message) => {
      const kind = message.type();
      if (kind !== "error" && kind !== "warning") return;
      if (REFUSAL.test(message.text())) return;
      if (this.away && message.text().startsWith("Failed to load resource")) return;
      this.all.push(`${message.page()?.url()}: ${kind}: ${message.text()}`);
    });
    context.on("weberror", (thrown) => {
      this.all.push(`${thrown.page()?.url()}: thrown: ${thrown.error().message}`);
    });
    context.on("dialog", (dialog) => {
      this.all.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on("response", (answer) => {
      // A server that starts answers 503 until it is ready.
      if (this.away && answer.status() === 503) return;
      if (answer.status() >= 500) this.all.push(`${answer.status()} for ${answer.url()}`);
    });
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (broken) => {
        console.error(`policy: ${broken.violatedDirective} by ${broken.blockedURI}`);
      });
    });
  }
}

interface Fixtures {
  browserErrors: BrowserErrors;
  /** Opens a page in another browser context. */
  other: () => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures from it.
  browserErrors: async ({}, use) => {
    const browserErrors = new BrowserErrors();
    await use(browserErrors);
    expect(browserErrors.all, "errors reported by browsers").toEqual([]);
  },
  context: async ({ context, browserErrors }, use) => {
    await browserErrors.of(context);
    if (LATE_MS > 0) await answerLate(context);
    await use(context);
  },
  other: async ({ browser, browserErrors }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async () => {
      const context = await browser.newContext();
      contexts.push(context);
      await browserErrors.of(context);
      return context.newPage();
    });
    await Promise.all(contexts.map((context) => context.close()));
  },
});
