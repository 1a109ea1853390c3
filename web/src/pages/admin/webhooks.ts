// The state of a delivery in words, and inputs of the webhook form.

import type { Schemas } from "../../api/client";
import type { Tone } from "../../parts/Badge";
import type { WebhookDelivery } from "./queries";

export const FORMS: { value: Schemas["WebhookForm"]; label: string }[] = [
  { value: "json", label: "JSON, signed" },
  { value: "slack", label: "Text for a chat (Slack, Mattermost, Discord)" },
];

/** The state of the latest delivery; a webhook without one was told nothing yet. */
export function deliveryStatus(latest?: WebhookDelivery | null): { label: string; tone: Tone } {
  if (!latest) return { label: "nothing sent yet", tone: "waiting" };
  if (latest.state === "delivered") return { label: "delivered", tone: "good" };
  if (latest.state === "failed") return { label: "given up", tone: "bad" };
  return latest.tries > 0
    ? { label: "to be tried again", tone: "late" }
    : { label: "on its way", tone: "waiting" };
}
