// An administrator adds a webhook, tests it and removes it; a receiver on this machine takes its messages.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Host } from "./host";
import { expectAccessible } from "./look";
import { bootstrap, enter, open } from "./people";
import { expect, test } from "./test";

let host: Host;
let receiver: Server;
let address: string;
const messages: unknown[] = [];

test.beforeAll(async () => {
  receiver = createServer((request, answer) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      messages.push(JSON.parse(Buffer.concat(parts).toString()));
      answer.writeHead(204).end();
    });
  });
  await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  host = await Host.start({ workers: "cpu=1" });
  await bootstrap(host);
  const tenants = await host.call<{ items: { name: string }[] }>("GET", "/v1/tenants");
  const grants = { hosts: [`private:${address}`] };
  await host.call("PATCH", `/v1/tenants/${tenants.items[0]?.name}`, { grants });
});
test.afterAll(async () => {
  receiver.close();
  await host.stop();
});

test("a webhook is added, tested and removed", async ({ page }) => {
  await enter(page, host);
  await open(page, host, "/admin?tab=webhooks", "Admin");
  await expect(page.getByText("No webhooks yet")).toBeVisible();
  await page.getByRole("button", { name: "Add a webhook" }).click();
  const adding = page.getByRole("dialog", { name: "Add a webhook" });
  await adding.getByRole("textbox", { name: "Name" }).fill("ops");
  await adding.getByRole("textbox", { name: "Address" }).fill("https://elsewhere.example/x");
  await adding.getByRole("button", { name: "Add", exact: true }).click();
  await expect(adding.getByRole("textbox", { name: "Address" })).toHaveAccessibleDescription(
    /not granted to your tenant/,
  );
  await adding.getByRole("textbox", { name: "Address" }).fill(`${address}/secret`);
  await adding.getByRole("combobox", { name: "Form" }).selectOption("slack");
  await adding.getByRole("checkbox", { name: "batch late" }).check();
  await expectAccessible(page);
  await adding.getByRole("button", { name: "Add", exact: true }).click();
  await expect(adding.getByText(/^whsec_/)).toBeVisible();
  await adding.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row", { name: /^ops/ });
  await expect(row).toContainText(address);
  await expect(row).toContainText("batch late");
  await expect(page.getByText("secret")).toHaveCount(0);
  await row.getByRole("button", { name: "Test: ops" }).click();
  await page
    .getByRole("dialog", { name: "Test: ops" })
    .getByRole("button", { name: "Test", exact: true })
    .click();
  await expect(row).toContainText("delivered");
  expect(messages).toEqual([{ text: expect.stringContaining("test of the webhook ops") }]);
  await expectAccessible(page);
  await row.getByRole("button", { name: "Remove: ops" }).click();
  await page
    .getByRole("dialog", { name: "Remove: ops" })
    .getByRole("button", { name: "Remove", exact: true })
    .click();
  await expect(page.getByText("No webhooks yet")).toBeVisible();
});
