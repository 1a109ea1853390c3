// Deduplication of equal requests, and log lines of a run.

import { type Batch, scoreBatch } from "./batches";
import { component, Host } from "./host";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let batch: Batch;

test.beforeAll(async () => {
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const plugin = await host.publish(component("hello"));
  const [prompt, label] = ["What is 6 * 7?", "42"];
  const items = ["Answer: 42", "Answer: 41", "Answer: 42"].map((response, at) => ({
    key: `sample-${at}`,
    prompt,
    response,
    label,
  }));
  batch = await scoreBatch(host, { plugin, run: "shared" }, items);
});
test.afterAll(() => host.stop());

test("a deduplicated request links to the request that ran", async ({ page }) => {
  await enter(page, host);
  await open(page, host, `/batches/${batch.id}`, "shared, iteration 0");
  await expect(page.getByText("answered by an equal request")).toBeVisible();
  const requests = page.getByRole("table", { name: "Requests of the batch" });
  await requests.getByRole("link", { name: "sample-2" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Request sample-2" })).toBeVisible();
  await expect(page.getByText("success")).toBeVisible();
  await page.getByRole("link", { name: "an equal request" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Request sample-0" })).toBeVisible();
});

test("log lines of a run can be filtered by verdict and level", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/runs/shared", "shared");
  const lines = page.getByRole("table", { name: "Log lines of the run" });
  // Two requests ran, with one log line each.
  await expect(lines.getByRole("row")).toHaveCount(3);
  const logs = page.getByRole("region", { name: "Logs" });
  await logs.getByLabel("Verdict").fill("wrong");
  await expect(lines.getByRole("row")).toHaveCount(2);
  await expect(lines.getByRole("row", { name: /wrong/ })).toContainText("comparing");
  await logs.getByLabel("Level").selectOption("error");
  await expect(logs.getByText("No matching log lines")).toBeVisible();
});
