// The entries of the command palette: pages, tenants, runs, plugins, and batches and requests by their ids.

import type { Session } from "../api/session";
import { addressOf, PAGES } from "../pages/book/contents";
import { placesOf } from "./places";

export interface Entry {
  group: "Pages" | "Go to" | "Runs" | "Plugins" | "Switch tenant" | "Documentation";
  label: string;
  /** Path in this dashboard. */
  to?: string;
  /** Tenant that becomes the current one. */
  tenant?: string;
}

/** The most entries of a group. */
export const GROUP_MAX = 8;

const BATCH_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Pages of the account, which keys do not have. */
const ACCOUNT_PAGES: Entry[] = [
  { group: "Pages", label: "Your keys", to: "/account/keys" },
  { group: "Pages", label: "Change password", to: "/account" },
];

/** Entries that need no call of the server: those that the user may open and that contain the text. */
export function knownEntries(session: Session, text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  const matches = (label: string) => label.toLowerCase().includes(wanted);
  const pages = placesOf(session).flatMap(({ places }) => places);
  const tenants = (session.tenants ?? []).filter(({ tenant }) => tenant !== session.tenant);
  return [
    ...identified(session, text.trim()),
    ...pages
      .filter(({ label }) => matches(label))
      .map(({ label, to }): Entry => ({ group: "Pages", label, to })),
    ...(session.person ? ACCOUNT_PAGES.filter(({ label }) => matches(label)) : []),
    ...tenants
      .filter(({ tenant }) => matches(tenant))
      .slice(0, GROUP_MAX)
      .map(
        ({ tenant, role }): Entry => ({
          group: "Switch tenant",
          label: `${tenant} (${role})`,
          tenant,
        }),
      ),
  ];
}

/** Pages of the documentation by their titles, once something is typed. */
export function bookEntries(text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  return PAGES.filter(({ title }) => title.toLowerCase().includes(wanted))
    .slice(0, GROUP_MAX)
    .map((page) => ({ group: "Documentation", label: page.title, to: addressOf(page) }));
}

/** A batch or request whose id is the whole text. */
function identified(session: Session, text: string): Entry[] {
  if (!session.scopes.includes("batches:read")) return [];
  const [batch = "", place, ...rest] = text.split(".");
  if (!BATCH_ID.test(batch) || rest.length > 0) return [];
  if (place === undefined) {
    return [{ group: "Go to", label: `Batch ${batch}`, to: `/batches/${batch}` }];
  }
  if (!/^\d{1,9}$/.test(place)) return [];
  return [{ group: "Go to", label: `Request ${text}`, to: `/requests/${text}` }];
}

export function runEntries(names: readonly string[]): Entry[] {
  return names.map((name) => ({
    group: "Runs",
    label: name,
    to: `/runs/${encodeURIComponent(name)}`,
  }));
}

/** The server lists versions; each plugin is one entry. */
export function pluginEntries(names: readonly string[]): Entry[] {
  return [...new Set(names)].slice(0, GROUP_MAX).map((name) => ({
    group: "Plugins",
    label: name,
    to: `/plugins/${encodeURIComponent(name)}`,
  }));
}
