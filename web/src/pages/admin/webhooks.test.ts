import { describe, expect, it } from "vitest";
import type { WebhookDelivery } from "./queries";
import { deliveryStatus } from "./webhooks";

const delivery: WebhookDelivery = {
  id: 1,
  made_at: "2026-05-01T00:00:00Z",
  state: "waiting",
  tries: 0,
};

describe("the state of a webhook", () => {
  it.each([
    [null, "nothing sent yet"],
    [delivery, "on its way"],
    [{ ...delivery, tries: 1, error: "no answer within 10 s" }, "to be tried again"],
    [{ ...delivery, state: "delivered" as const, tries: 2 }, "delivered"],
    [{ ...delivery, state: "failed" as const, tries: 6 }, "given up"],
  ])("with %o is %s", (latest, label) => {
    expect(deliveryStatus(latest).label).toBe(label);
  });
});
