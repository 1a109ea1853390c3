// Every browser test ends with a look at what the browser complained of: an error that a page threw, a
// breach of the content security policy, an answer of the server that no page should get.

import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";

export { expect };

/** A refusal is shown on the page, and named by the browser too; it is no fault. */
const REFUSAL = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** What is late shows whether a test looked at the page before; by `make test-long` alone. */
const LATE_MS = process.env.ASSAY_TEST_LONG ? 1500 : 0;

async function answerLate(context: BrowserContext): Promise<void> {
  await context.route(/\/v1\/|\.js$/, async (route) => {
    // Most a little, some much.
    await new Promise((done) => setTimeout(done, Math.random() ** 3 * LATE_MS));
    // The page may have been left meanwhile.
    await route.continue().catch(() => {});
  });
}

export class Complaints {
  readonly all: string[] = [];
  private away = false;

  /** The server goes away now, and what is lost with it is no fault. */
  serverGoes(): void {
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
  complaints: Complaints;
  /** A browser of somebody else. */
  other: () => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what is asked for from it.
  complaints: async ({}, use) => {
    const complaints = new Complaints();
    await use(complaints);
    expect(complaints.all, "what browsers complained of").toEqual([]);
  },
  context: async ({ context, complaints }, use) => {
    await complaints.of(context);
    if (LATE_MS > 0) await answerLate(context);
    await use(context);
  },
  other: async ({ browser, complaints }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async () => {
      const context = await browser.newContext();
      contexts.push(context);
      await complaints.of(context);
      return context.newPage();
    });
    await Promise.all(contexts.map((context) => context.close()));
  },
});
