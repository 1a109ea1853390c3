// What a key is worth now, and what keys may.

import type { Scope } from "../../api/session";
import type { Tone } from "../../parts/Dot";
import type { Key } from "./queries";

export const SCOPES: { scope: Scope; may: string }[] = [
  { scope: "batches:write", may: "submits batches and rewards" },
  { scope: "batches:read", may: "reads everything of the tenant" },
  { scope: "plugins:publish", may: "publishes plugins" },
  { scope: "plugins:promote", may: "promotes and yanks versions" },
  { scope: "admin:*", may: "administers the tenant" },
  { scope: "platform:*", may: "administers the platform and all tenants" },
];

export interface Standing {
  word: string;
  tone: Tone;
  since?: { what: string; at: string };
}

export function standing(key: Key, now: number): Standing {
  if (key.revoked_at) {
    return { word: "revoked", tone: "bad", since: { what: "since", at: key.revoked_at } };
  }
  if (key.expires_at && Date.parse(key.expires_at) <= now) {
    return { word: "expired", tone: "bad", since: { what: "since", at: key.expires_at } };
  }
  if (key.previous_secret_until && Date.parse(key.previous_secret_until) > now) {
    const since = { what: "old secret works until", at: key.previous_secret_until };
    return { word: "rotated", tone: "late", since };
  }
  if (key.expires_at) {
    return { word: "works", tone: "good", since: { what: "until", at: key.expires_at } };
  }
  return { word: "works", tone: "good" };
}

/** The moment so many days from now; null stands for never. */
export function expiry(days: number, now: number): string | null {
  return days === 0 ? null : new Date(now + days * 86_400_000).toISOString();
}

/** What stands between commas; null for nothing at all. */
export function listed(text: string): string[] | null {
  const names = text
    .split(/[\s,]+/)
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length === 0 ? null : names;
}
