// The status of a key, the scopes, and inputs of the key form.

import type { Scope } from "../../api/session";
import type { Tone } from "../../parts/Badge";
import type { Key } from "./queries";

export const SCOPES: { scope: Scope; may: string }[] = [
  { scope: "batches:write", may: "submit batches and rewards" },
  { scope: "batches:read", may: "read everything in the tenant" },
  { scope: "plugins:publish", may: "publish plugins" },
  { scope: "plugins:promote", may: "promote and yank versions" },
  { scope: "admin:*", may: "administer the tenant" },
  { scope: "platform:*", may: "administer the platform and all tenants" },
];

/** The scopes of a role that a personal key may have. */
export function personalScopes(scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => scope !== "admin:*" && scope !== "platform:*");
}

export interface KeyStatus {
  label: string;
  tone: Tone;
  date?: { label: string; at: string };
}

export function keyStatus(key: Key, now: number): KeyStatus {
  if (key.revoked_at) {
    return { label: "revoked", tone: "bad", date: { label: "since", at: key.revoked_at } };
  }
  if (key.expires_at && Date.parse(key.expires_at) <= now) {
    return { label: "expired", tone: "bad", date: { label: "since", at: key.expires_at } };
  }
  if (key.previous_secret_until && Date.parse(key.previous_secret_until) > now) {
    const date = { label: "old secret works until", at: key.previous_secret_until };
    return { label: "rotated", tone: "late", date };
  }
  if (key.expires_at) {
    return { label: "active", tone: "good", date: { label: "expires", at: key.expires_at } };
  }
  return { label: "active", tone: "good" };
}

/** The time that many days from now; null means never. */
export function expiry(days: number, now: number): string | null {
  return days === 0 ? null : new Date(now + days * 86_400_000).toISOString();
}

/** Splits a list of names at commas and spaces; null if it is empty. */
export function namesIn(text: string): string[] | null {
  const names = text
    .split(/[\s,]+/)
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length === 0 ? null : names;
}
